"""What became of everything that the documents describe: for each of their sections the cards made from it, or why
there is none.

`documents/<document>.yaml` lists the sections in the document's order, by heading; a name in parentheses is ours, for
what has none.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import model_validator

from ablations.declarations import FOLDER
from ablations.schema import Document, Id, Text
from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, parse_model
from gonn_core.errors import SettingError


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
            raise ValueError(
                "give cards, or reasons why there are none (without), or else say what it is about instead (nothing)"
            )
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
            raise SettingError(
                f"documents/{path.name}.document", document.document, "differs from the file's name", path.stem
            )
        coverage[path.stem] = document
    return coverage


def sections_of(coverage: Mapping[str, Coverage], card: str) -> list[tuple[str, str]]:
    """(document, heading) of the sections that a card comes from."""
    return [
        (each.document, section.heading)
        for each in coverage.values()
        for section in each.sections
        if card in section.cards
    ]
