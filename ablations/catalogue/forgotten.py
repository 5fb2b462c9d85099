"""Whether a card is complete: its summary, its place in a document."""

from pathlib import Path

from ablations.catalogue.drafts import OPEN
from ablations.coverage import load_coverage, sections_of
from ablations.declarations import FOLDER, Declarations, find
from ablations.registry import Registry
from gonn_core.errors import SettingError


def check_written(registry: Registry, folder: Path = FOLDER) -> None:
    """Every card must have its summary and its place in a document. Raises SettingError for the first that lacks
    one."""
    check_documents(registry, folder)
    for card in registry.cards.values():
        for field in ("title", "summary"):
            if getattr(card, field).startswith(OPEN):
                where = f"cards/{card.system}/{card.id}.yaml.{field}"
                raise SettingError(where, getattr(card, field), "still the draft's", "what the card is, in words")


def check_documents(declared: Declarations, folder: Path = FOLDER) -> None:
    """That documents name cards which are there, and that each card is named. Raises SettingError."""
    coverage = load_coverage(folder / "documents")
    for name, document in coverage.items():
        for section in document.sections:
            for card in section.cards:
                find(declared.cards, f"documents/{name}.yaml.{section.heading}", card, "no such enhancement")
    for card in declared.cards:
        if not sections_of(coverage, card):
            system = declared.cards[card].system
            raise SettingError(
                f"cards/{system}/{card}.yaml",
                "(the card)",
                "no section of a document names it",
                f"cards: [{card}] in a section of documents/<document>.yaml, which may be one of your own such as "
                "(not in the document)",
            )
