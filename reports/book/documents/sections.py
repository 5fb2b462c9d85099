"""A section for each document beside GoNN's: its tables, rebuilt with what was measured here beside."""

from collections.abc import Callable, Mapping, Sequence

from ablations.published_results import Published
from ablations.registry import Registry
from reports.book.documents.ablation import ablation_table
from reports.book.documents.curves import curves_table
from reports.book.documents.gains import gains_table
from reports.book.documents.games import games_table
from reports.book.documents.nets import nets_table
from reports.page import Section
from reports.play.all_games import NOTHING_PLAYED, Played
from reports.results.nets import MeasuredNet
from reports.study.report import Report
from reports.tables.cells import Table

_ABOUT: Mapping[str, tuple[str, str, str]] = {
    "clark_storkey": (
        "Tables of Clark and Storkey",
        "Clark and Storkey",
        "The paper's text is stored without its numbers but those of its abstract; what is marked as from memory is "
        "compared with, never judged by.",
    ),
    "cazenave": (
        "Figures of Cazenave",
        "Cazenave",
        "The paper's accuracies and errors are in figures, whose numbers its text does not tell: here is what it says "
        "of each curve.",
    ),
    "go_nn": (
        "Results of go-NN",
        "go-NN",
        "The document has no table of results and leaves its final accuracy to be added; some numbers are in its code.",
    ),
    "lczero": (
        "Gains told by the lczero fork",
        "lczero fork",
        "Of chess nets with soft targets from a search, in points of policy accuracy; here the same changes for Go.",
    ),
}
"""Published results -> title, whose they are, what to know of them; those of GoNN stand in its three tables."""


def document_sections(
    registry: Registry, nets: Sequence[MeasuredNet], reports: Sequence[Report], played: Played = NOTHING_PLAYED
) -> list[Section]:
    """In the order of the systems; a document without published results has none."""
    sections = []
    for name, (title, whose, text) in _ABOUT.items():
        if name in registry.published:
            tables = _tables(registry, registry.published[name], whose, nets, reports, played)
            sections.append(Section(title, (text,), tables=tables))
    return sections


def _tables(
    registry: Registry,
    published: Published,
    whose: str,
    nets: Sequence[MeasuredNet],
    reports: Sequence[Report],
    played: Played,
) -> tuple[Table, ...]:
    """Of the kinds of results that it holds: nets, ablation, curves, gains, games."""
    plain = [row for row in published.rows if row.excluded is None]
    excluded = [row for row in published.rows if row.excluded is not None]
    kinds: list[tuple[Sequence, Callable[[str], Table]]] = [
        (plain, lambda title: nets_table(registry, published, plain, nets, f"Nets{title}")),
        (excluded, lambda title: ablation_table(registry, published, nets, f"Ablation study{title}")),
        (published.curves, lambda title: curves_table(registry, published, nets, f"Curves{title}")),
        (published.gains, lambda title: gains_table(published, reports, f"Gains{title}")),
        (published.games, lambda title: games_table(published, nets, played, f"Games and ranks{title}")),
    ]
    return tuple(make(f": {whose}") for held, make in kinds if held)
