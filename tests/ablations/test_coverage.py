"""Every section of the five documents has cards or a reason, and every card comes from a section.

With GONN_DOCUMENTS naming a folder that has the documents' texts (`<document>.txt`) the headings are compared with
theirs.
"""

import os
import re
from pathlib import Path
from typing import get_args

import pytest

from ablations.coverage import load_coverage, sections_of
from ablations.registry import load_registry
from ablations.schema import Document
from gonn_core.errors import SettingError

TEXTS = os.environ.get("GONN_DOCUMENTS")
PAGE = {
    "gonn_sandbox": {
        "/GoNN",
        "Sandbox for playing with neural nets for Go",
        "Primary LanguageC++OtherNOASSERTION",
        "Using the following functions:",
    },
    "go_nn_theduck314": {
        "TheDuck314 / go-NN",
        "Go-playing neural network in Python using TensorFlow",
        "Geek Repo:Geek Repo",
        "Github PK Tool:Github PK Tool",
        "The code is in the engine/ folder. A short guide:",
        "Language:Python 97.9%Language:Shell 2.1%",
    },
    "lczero_training_fork": {
        "Coder Social home page Coder Social logo",
        "tensorboard --logdir leelalogs",
        "Contributors",
        "Recommend Topics",
        "Recommend Org",
        "An Open Source Machine Learning Framework for Everyone",
    },
}
"""Lines of the pages around the documents that look like headings."""


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


def headings(document: str, text: str) -> list[str]:
    """Headings of a text: marked ones in markdown, else short lines that stand alone."""
    lines = [line.strip() for line in text.splitlines()]
    if any(line.startswith("## ") for line in lines):
        return [re.sub(r"[#*]", "", line).strip() for line in lines if line.startswith("#")]
    alone = [
        line
        for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
        if line and not before and (not after or after.startswith("•"))
    ]
    return [
        line
        for line in alone
        if len(line) <= 60
        and line[-1] not in ".!;,"
        and line[0] not in "•("
        and line.isascii()
        and not line[0].isdigit()
    ]


@pytest.mark.skipif(TEXTS is None, reason="GONN_DOCUMENTS names no folder with the documents' texts")
@pytest.mark.parametrize("document", get_args(Document))
def test_headings_are_the_documents(coverage, document):
    text = (Path(TEXTS) / f"{document}.txt").read_text(encoding="utf-8")
    listed = [section.heading for section in coverage[document].sections if not section.heading.startswith("(")]
    if not listed:
        return  # the stored text has no headings
    found = headings(document, text)
    assert [heading for heading in found if heading not in {*listed, *PAGE.get(document, ())}] == []
    starts = re.findall(r"(?m)^([A-Z][\w ]{3,40}): ", text)  # paragraphs that begin with their name
    assert [heading for heading in listed if heading not in {*found, *starts}] == []
    assert [heading for heading in found if heading in listed] == [heading for heading in listed if heading in found], (
        "in the document's order"
    )
