"""What was forgotten of a card: its summary, its place in a document, the tables of README."""

from pathlib import Path

from ablations.catalogue.drafts import OPEN
from ablations.coverage import load_coverage, sections_of
from ablations.declarations import FOLDER, Declarations, find
from ablations.readme import render
from ablations.registry import Registry
from gonn_core.errors import InputError, SettingError


def check_written(registry: Registry, folder: Path = FOLDER) -> None:
    """That what is told of every card beside its own file was written. Raises SettingError for the first that was not,
    InputError for tables that are not of these declarations. Counts parameters of all bases, which needs torch."""
    check_documents(registry, folder)
    for card in registry.cards.values():
        for field in ("title", "summary"):
            if getattr(card, field).startswith(OPEN):
                where = f"cards/{card.system}/{card.id}.yaml.{field}"
                raise SettingError(where, getattr(card, field), "still the draft's", "what the card is, in words")
    readme = folder / "README.md"
    if not readme.is_file() or readme.read_text(encoding="utf-8") != render(registry):
        raise InputError(readme, "its tables are not of these declarations; python -m ablations.readme writes them")


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
