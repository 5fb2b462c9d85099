"""Every section of the five documents has cards or a reason, and every card comes from a section."""

from typing import get_args

import pytest

from ablations.coverage import load_coverage, sections_of
from ablations.registry import load_registry
from ablations.schema import Document
from gonn_core.errors import SettingError


@pytest.fixture(scope="module")
def coverage():
    return load_coverage()


def test_all_documents_are_there(coverage):
    assert set(coverage) == set(get_args(Document))


def test_every_named_card_exists_and_every_card_is_named(coverage):
    cards = load_registry().cards
    named = {card for each in coverage.values() for section in each.sections for card in section.cards}
    assert named - set(cards) == set(), "named in ablations/documents/, but no card"
    assert set(cards) - named == set(), "cards that no file of ablations/documents/ names"
    assert all(sections_of(coverage, card) for card in cards)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("document: cazenave_2017\nsections: [{heading: a}]\n", "sections.0={.*}: give cards, or "),
        (
            "document: cazenave_2017\nsections: [{heading: a, cards: [x], nothing: y}]\n",
            "sections.0={.*}: give cards, or ",
        ),
        (
            "document: gonn_sandbox\nsections: []\n",
            "document=gonn_sandbox: differs from the file's name; valid: cazenave_2017",
        ),
    ],
)
def test_bad_files_are_named(tmp_path, text, problem):
    (tmp_path / "cazenave_2017.yaml").write_text(text)
    with pytest.raises(SettingError, match=f"^documents/cazenave_2017.yaml.{problem}"):
        load_coverage(tmp_path)
