"""A new enhancement by `gonn new-card`: what is written, what is refused, what `gonn check` asks for."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from ablations.coverage import OPEN, check_documents
from ablations.declarations import FOLDER
from ablations.registry import load_registry
from ablations.schema import Enhancement
from ablations.strict_yaml import parse_yaml
from gonn_core.config import parse_model
from gonn_core.errors import SettingError
from orchestration.catalogue.new_card import OURS, new_card
from orchestration.cli import command as cli
from tests.paths import ROOT

NEW = shlex.split(re.search(r"gonn (new-card .*)", (ROOT / "ablations/introduction.md").read_text()).group(1))
"""As the introduction types it."""
KERNEL = (["net.head.kernel"], ["5"], ["1"])


@pytest.fixture
def folder(tmp_path):
    """The declarations, to be changed."""
    for kind in ("cards", "bases", "budgets", "published", "documents"):
        shutil.copytree(FOLDER / kind, tmp_path / "ablations" / kind)
    return tmp_path / "ablations"


def drafted(folder: Path, settings=KERNEL, system="gonn", title="Point head", **options):
    new_card("point_head", system, title, *settings, folder=folder, **options)
    return load_registry(folder).cards["point_head"]


@pytest.mark.parametrize("title", ["Point head", "A: b", "7x7 'last' \"kernel\"", "# no comment", "1.5", "Größe"])
def test_its_text_reads_back(folder, title):
    card = drafted(folder, title=title)
    assert (card.title, card.base, card.claims, card.values("on")) == (title, "gonn-b5", (), {"net.head.kernel": 1})
    text = (folder / "cards/gonn/point_head.yaml").read_text()
    with_claims = text.replace("claims: []\n", "").replace("\n# claims:", "\nclaims:").replace("\n#   ", "\n   ")
    (claim,) = parse_model(Enhancement, parse_yaml(with_claims, "draft"), "draft").claims
    assert claim.base == card.base and claim.section == OURS  # what is commented out is a claim


def test_values_are_yaml_and_the_base_is_the_first_that_has_one_of_them(folder):
    settings = (["net.trunk.dilations", "features.ladders"], ["[]", "false"], ["[2, 3]", "true"])
    card = drafted(folder, settings, base="gonn-b4")
    assert card.base == "gonn-b4" and card.values("on") == {"net.trunk.dilations": [2, 3], "features.ladders": True}
    (folder / "cards/gonn/point_head.yaml").unlink()
    assert drafted(folder, (["net.activation"], ["relu"], ["elu"]), "go_nn").base == "go-nn"


def test_check_names_what_is_left_to_do(folder):
    drafted(folder)
    with pytest.raises(SettingError, match=f"^cards/gonn/point_head.yaml.summary={OPEN}"):
        check_documents(load_registry(folder), folder)
    card, listed = folder / "cards/gonn/point_head.yaml", folder / "documents/gonn_sandbox.yaml"
    card.write_text(card.read_text().replace(f'"{OPEN}: what it does, in one sentence."', "One by one."))
    check_documents(load_registry(folder), folder)
    listed.write_text(listed.read_text().replace("cards: [point_head]", "cards: [point_heads]"))
    with pytest.raises(SettingError, match="=point_heads: no such enhancement"):
        check_documents(load_registry(folder), folder)
    shutil.copy(FOLDER / "documents/gonn_sandbox.yaml", listed)
    with pytest.raises(SettingError, match=r"^cards/gonn/point_head.yaml=\(the card\)"):
        check_documents(load_registry(folder), folder)


@pytest.mark.parametrize("changes, line", [
    ({"--system": "alphago"}, "SYSTEM=alphago"),
    ({"--on": None}, "--setting: 1 settings, 1 off and 0 on values"),
    ({"--setting": None, "--off": None, "--on": None}, "--setting: 0 settings"),
    ({"--title": None}, "TITLE: not given; usage: gonn new-card [OPTIONS] ID"),
    ({"--on": "["}, "--on=["),
    ({"--on": "wide"}, "--on.net.head.kernel=wide"),
    ({"--setting": "net.head.kernal"}, "--setting=net.head.kernal"),
    ({"--off": "3"}, "BASE=gonn-b5: has neither"),
    ({"--on": "5"}, "cards/gonn/point_head.yaml.toggles.net.head.kernel"),
    ({"--base": "gonn-b6"}, "BASE=gonn-b6"),
    ({"ID": "elu"}, "ID=elu"),
    ({"ID": "../elu"}, "cards/gonn/../elu.yaml.id=../elu"),
])  # fmt: skip
def test_what_cannot_be_is_one_line_and_nothing_is_written(capsys, changes, line):
    options = {**dict(zip(NEW[2::2], NEW[3::2], strict=True)), **changes}
    name = options.pop("ID", "point_head")
    before = sorted((ROOT / "ablations").rglob("*.yaml"))
    arguments = [part for option, value in options.items() if value is not None for part in (option, value)]
    assert cli.run(["new-card", name, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(line) and err.count("\n") == 1
    assert sorted((ROOT / "ablations").rglob("*.yaml")) == before


def test_what_is_still_wrong_is_printed_and_kept(folder, capsys):
    """An enhancement without effect on some budget: its author says why, or gives another form."""
    new_card("later_offset", "gonn", "Later offset", ["training.schedule.offset"], ["14"], ["20"], folder=folder)
    assert "still wrong: " in capsys.readouterr().out and (folder / "cards/gonn/later_offset.yaml").is_file()
