"""Drafts of cards: what they say, where they are named, and what cannot be one."""

import shutil

import pytest

from ablations.catalogue.drafts import (
    OPEN,
    OURS,
    card_text,
    check_documents,
    check_written,
    draft,
    named_in,
    write_draft,
)
from ablations.coverage import load_coverage, sections_of
from ablations.registry import FOLDER, load_registry
from ablations.schema import Enhancement
from ablations.strict_yaml import parse_yaml
from gonn_core.config import parse_model
from gonn_core.errors import SettingError

REGISTRY = load_registry()
KERNEL = {"net.head.kernel": ("5", "1")}


@pytest.fixture
def folder(tmp_path):
    """The declarations, to be changed."""
    for kind in ("cards", "bases", "budgets", "published", "documents"):
        shutil.copytree(FOLDER / kind, tmp_path / kind)
    shutil.copy(FOLDER / "README.md", tmp_path)
    return tmp_path


def drafted(name="point_head", toggles=KERNEL, **settings):
    return draft(
        REGISTRY, name, settings.pop("system", "gonn"), settings.pop("title", "Point head"), toggles, **settings
    )


@pytest.mark.parametrize(
    "title", ["Point head", "A: b", "7x7 'last' \"kernel\"", "# no comment", "yes", "1.5", "Größe"]
)
def test_its_text_reads_back_as_the_card(title):
    card = drafted(title=title)
    text = card_text(card, "gonn_sandbox", OURS)
    assert parse_model(Enhancement, parse_yaml(text, "draft"), "draft") == card
    assert card.base == "gonn-b5" and card.claims == () and card.summary.startswith(OPEN)
    with_claims = text.replace("claims: []\n", "").replace("\n# claims:", "\nclaims:").replace("\n#   ", "\n   ")
    (claim,) = parse_model(Enhancement, parse_yaml(with_claims, "draft"), "draft").claims
    assert claim.base == card.base and claim.section == OURS  # what is commented out is one, too


def test_values_are_yaml():
    card = drafted(
        toggles={"net.trunk.dilations": ("[]", "[2, 3]"), "features.ladders": ("false", "true")}, base="gonn-b4"
    )
    assert card.values("on") == {"net.trunk.dilations": [2, 3], "features.ladders": True}
    text = card_text(card, "gonn_sandbox", OURS)
    assert "  net.trunk.dilations: {off: [], on: [2, 3]}\n  features.ladders: {off: false, on: true}\n" in text


def test_the_base_is_the_first_of_the_system_that_stands_at_one_of_the_values():
    assert drafted().base == "gonn-b5"
    assert drafted(toggles={"features.ladders": ("false", "true")}).base == "gonn-b5"
    assert drafted(toggles={"net.activation": ("relu", "elu")}, system="go_nn").base == "go-nn"
    assert drafted(toggles={"net.stem.kernel": ("3", "5")}, base="gonn-b4").base == "gonn-b4"


@pytest.mark.parametrize("settings, line", [
    ({"name": "elu"}, "ID=elu: another card has this id; valid: a new one; gonn show elu shows that"),
    ({"name": "../elu"}, "cards/gonn/../elu.yaml.id=../elu: string should match pattern"),
    ({"toggles": {"net.head.kernal": ("3", "5")}}, "--setting=net.head.kernal: no such setting; valid: net.head.k"),
    ({"toggles": {"net.head.kernel": ("3", "wide")}}, "--on.net.head.kernel=wide: "),
    ({"toggles": {"net.head.kernel": ("3", "[")}}, "--on=[: not a YAML value; valid: such as "),
    ({"toggles": {"net.head.kernel": ("3", "1")}}, "BASE=gonn-b5: stands neither at off nor at on (gonn-b5 has "
                                                   "net.head.kernel = 5); valid: another off value, or --base"),
    ({"toggles": {"net.head.kernel": ("3", "3")}}, "cards/gonn/point_head.yaml.toggles.net.head.kernel"),
    ({"base": "gonn-b6"}, "BASE=gonn-b6: no such base; valid: gonn list --bases shows all"),
])  # fmt: skip
def test_what_cannot_be(settings, line):
    with pytest.raises(SettingError) as error:
        drafted(**settings)
    assert str(error.value).startswith(line)


SECTIONS = """document: gonn_sandbox
sections:
  - {heading: A, nothing: a title}
  - heading: B
    cards: [one, two]
    without:
      C: "none, it is [x]"
  - {heading: "D: (e)", cards: [three], without: {F: g}}
  - heading: H
    without: {I: why}
"""


def test_a_card_is_named_in_the_section_that_describes_it():
    assert "    cards: [one, two, new]\n" in named_in(SECTIONS, "B", "new")
    assert '{heading: "D: (e)", cards: [three, new], without' in named_in(SECTIONS, "D: (e)", "new")
    assert named_in(SECTIONS, "H", "new").endswith("  - heading: H\n    cards: [new]\n    without: {I: why}\n")
    ours = named_in(SECTIONS, OURS, "new")
    assert ours == SECTIONS + f"  - {{heading: {OURS}, cards: [new]}}\n".replace(OURS, '"(not in the document)"')
    assert named_in(ours, OURS, "newer").endswith("cards: [new, newer]}\n")
    with pytest.raises(SettingError, match="^SECTION=A: is about something else"):
        named_in(SECTIONS, "A", "new")


@pytest.mark.parametrize("document", sorted(load_coverage()))
def test_every_section_with_cards_takes_one_more(folder, document):
    text = (folder / "documents" / f"{document}.yaml").read_text(encoding="utf-8")
    headings = [section.heading for section in load_coverage()[document].sections if not section.nothing]
    for heading in dict.fromkeys(headings):
        (folder / "documents" / f"{document}.yaml").write_text(named_in(text, heading, "new"), encoding="utf-8")
        assert (document, heading) in sections_of(load_coverage(folder / "documents"), "new"), heading


def test_nothing_is_left_of_a_draft_that_cannot_be_named(folder):
    title = next(each.heading for each in load_coverage()["gonn_sandbox"].sections if each.nothing)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(SettingError, match="^SECTION=.*is about something else"):
        write_draft(folder, drafted(), "gonn_sandbox", title)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_was_forgotten_is_named(folder):
    card, listed = write_draft(folder, drafted(), "gonn_sandbox", OURS)
    registry = load_registry(folder)
    registry.card("point_head")
    with pytest.raises(SettingError, match="^cards/gonn/point_head.yaml.summary=TO DO: .*still the draft's"):
        check_written(registry, folder)
    card.write_text(
        card.read_text().replace(f'summary: "{OPEN}: what it does, in one sentence."', "summary: One by one.")
    )
    check_written(load_registry(folder), folder)
    listed.write_text(listed.read_text().replace(", cards: [point_head]", ", cards: [point_heads]"))
    with pytest.raises(
        SettingError, match=r"^documents/gonn_sandbox.yaml.\(not in the document\)=point_heads: no such enh"
    ):
        check_documents(load_registry(folder), folder)
    shutil.copy(FOLDER / "documents/gonn_sandbox.yaml", listed)
    with pytest.raises(
        SettingError, match=r"^cards/gonn/point_head.yaml.*no section of a document names it; valid: cards: "
    ):
        check_documents(load_registry(folder), folder)


def test_a_card_that_says_nothing_of_claims_is_told_how(folder):
    file = folder / "cards/gonn/batch_normalisation.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("claims: []", ""), encoding="utf-8")
    with pytest.raises(SettingError) as error:
        load_registry(folder).card("batch_normalisation")
    assert str(error.value) == (
        "cards/gonn/batch_normalisation.yaml.claims=(missing): a card says what its document claims; valid: claims: [] "
        "where it claims nothing"
    )
