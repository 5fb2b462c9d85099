"""What became of everything that the documents describe: for each of their sections the cards made from it, or why
there is none.

`documents/<document>.yaml` lists the sections in the document's order, by heading; a name in parentheses is ours, for a
section without a heading.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import model_validator

from ablations.declarations import FOLDER, Declarations, find
from ablations.schema import Document, Id, Text
from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, parse_model
from gonn_core.errors import SettingError

OPEN = "TO DO"
"""Begins what a drafted card leaves to its author."""


class DocumentSection(Strict):
    """One section of a document."""

    heading: Text
    cards: tuple[Id, ...] = ()
    """What it describes, as cards."""
    without: dict[Text, Text] = {}
    """What else it describes -> why no card of it can be."""
    nothing: Text | None = None
    """What the section is about instead, where it describes nothing of the kind."""

    @model_validator(mode="after")
    def _says_something(self):
        if bool(self.cards or self.without) == bool(self.nothing):
            raise ValueError("give cards, or why there are none (without), or what it is about instead (nothing)")
        return self


class Coverage(Strict):
    """One document."""

    document: Document
    sections: tuple[DocumentSection, ...]


def load_coverage(folder: Path = FOLDER / "documents") -> Mapping[str, Coverage]:
    """Document -> its sections. Raises InputError or SettingError naming the file."""
    coverage: dict[str, Coverage] = {}
    for path in sorted(folder.glob("*.yaml")):
        document = parse_model(Coverage, read_yaml(path), f"documents/{path.name}")
        if document.document != path.stem:
            where = f"documents/{path.name}.document"
            raise SettingError(where, document.document, "differs from the file's name", path.stem)
        coverage[path.stem] = document
    return coverage


def sections_of(coverage: Mapping[str, Coverage], card: str) -> list[tuple[str, str]]:
    """(document, heading) of the sections that a card comes from."""
    return [
        (document.document, section.heading)
        for document in coverage.values()
        for section in document.sections
        if card in section.cards
    ]


def check_documents(declared: Declarations, folder: Path = FOLDER) -> None:
    """That documents name existing cards, each card is named, and no card is a draft. Raises SettingError."""
    coverage = load_coverage(folder / "documents")
    for document in coverage.values():
        for section in document.sections:
            for name in section.cards:
                where = f"documents/{document.document}.yaml.{section.heading}"
                find(declared.cards, where, name, "no such enhancement")
    for card in declared.cards.values():
        file = f"cards/{card.system}/{card.id}.yaml"
        if not sections_of(coverage, card.id):
            valid = f"cards: [{card.id}] in a section of documents/<document>.yaml, which may be one of your own"
            raise SettingError(file, "(the card)", "no section of a document names it", valid)
        for field in ("title", "summary"):
            if getattr(card, field).startswith(OPEN):
                raise SettingError(f"{file}.{field}", getattr(card, field), "still the draft's", "what the card is")
