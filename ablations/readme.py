"""README.md of this folder (`make remake`): what is declared here, and tables of all of it."""

from collections import Counter
from collections.abc import Iterable, Mapping

from ablations.arms import bases_of
from ablations.coverage import load_coverage, sections_of
from ablations.declarations import FOLDER
from ablations.registry import Registry
from ablations.schema import Base, Enhancement
from ablations.wording import SYSTEMS, value_text

README = FOLDER / "README.md"
INTRODUCTION = FOLDER / "introduction.md"
"""The text above the tables, written by hand."""


def render(registry: Registry, measured: Mapping[str, str]) -> str:
    """The whole text; measured: card -> its effect. Counts the parameters of every base, which needs torch."""
    parts = [INTRODUCTION.read_text(encoding="utf-8").rstrip(), "## Bases", _bases(registry), "## Enhancements"]
    for system, title in SYSTEMS.items():
        cards = [card for card in registry.cards.values() if card.system == system]
        if cards:
            parts += [f"### {title}", _cards(cards, measured)]
    return "\n\n".join([*parts, "## From the documents", _documents()]) + "\n"


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(headings)
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _bases(registry: Registry) -> str:
    rows, fitting = [], Counter(base for card in registry.cards.values() for base in bases_of(registry, card))
    for base in registry.bases.values():
        names = ", ".join(f"`{name}`" for name in (f"{base.id}", *base.also_called))
        rows.append(
            [
                f"[{names}](bases/{base.id}.yaml)",
                base.title,
                f"{_parameters(base):,}",
                f"{base.parameters:,}" if base.parameters else "",
                str(fitting[base.id]),
            ]
        )
    return _table(("base", "net", "parameters", "as published", "enhancements that fit"), rows)


def _parameters(base: Base) -> int:
    from gonn_core.features.sets import padding, plane_names
    from gonn_core.nets.cost import trainable_parameters
    from gonn_core.nets.init import ShapesOnly
    from gonn_core.nets.registry import build_net

    return trainable_parameters(
        build_net(base.config.net, plane_names(base.config.features), ShapesOnly(), padding(base.config.features))
    )


def _cards(cards: Iterable[Enhancement], measured: Mapping[str, str]) -> str:
    rows, coverage = [], load_coverage()
    for card in cards:
        settings = "; ".join(
            f"`{path}` {value_text(toggle.off)} → {value_text(toggle.on)}" for path, toggle in card.toggles.items()
        )
        source = "; ".join(f"{document}: {heading}" for document, heading in sections_of(coverage, card.id))
        rows.append(
            [
                f"[`{card.id}`](cards/{card.system}/{card.id}.yaml)",
                card.summary,
                settings,
                f"`{card.base}`",
                measured.get(card.id, "not yet"),
                source,
            ]
        )
    headings = ("enhancement", "what it does", "settings, off → on", "base", "measured: Δ nats", "sections")
    return _table(headings, rows)


def _documents() -> str:
    rows = []
    for document, coverage in load_coverage().items():
        for section in coverage.sections:
            entries = [
                ", ".join(f"`{card}`" for card in section.cards),
                *(f"{what}: none, {why}" for what, why in section.without.items()),
            ]
            if not section.nothing:
                rows.append([document, section.heading, "; ".join(filter(None, entries))])
    return _table(("document", "section", "enhancements"), rows)
