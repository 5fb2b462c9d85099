"""The ablation table of Clark & Storkey: a net without one technique, published and measured here."""

from collections.abc import Sequence

from ablations.published_results import Published, PublishedRow
from ablations.registry import Registry
from reports.book.documents.nets import METRICS_OF, RANKS
from reports.book.documents.ours import comparable, counterparts, coverage, level_alone, with_ours
from reports.book.documents.printing import NOT_HERE, legend, mark, number, share
from reports.results.nets import MeasuredNet
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, text_cell
from reports.tables.formats import in_short


def _here(column: str) -> Column:
    name = f"{column}_ours"
    return Column(name, "here", parts=(name, *interval95(name)), under=column)


_COLUMNS = (
    Column("excluded", "excluded technique", "left"),
    Column("ours", "net measured here", "left", under="excluded"),
    Column("accuracy", "accuracy"),
    Column("accuracy_ours", "here", parts=("accuracy_ours", *interval95("accuracy_ours")), under="accuracy"),
    Column("rank", "rank"),
    Column("rank_ours", "here", parts=("rank_ours", *interval95("rank_ours")), under="rank"),
    Column("probability", "probability"),
    Column(
        "probability_ours", "here", parts=("probability_ours", *interval95("probability_ours")), under="probability"
    ),
)


def ablation_table(registry: Registry, published: Published, nets: Sequence[MeasuredNet], title: str) -> Table:
    """A row per excluded technique and net of ours without it, in the order of the document."""
    rows = [row for row in published.rows if row.excluded is not None]
    shown, used = [], []
    for row in rows:
        told = {
            "excluded": text_cell(f"{row.excluded}{mark(row.evidence)}"),
            "accuracy": share(row.top1, digits=2),
            "rank": number(row.rank, 2),
            "probability": number(row.probability, 4),
        }
        found = counterparts(nets, registry, row.ours)
        used += found
        ours = [(net.trials[0].id, _own(registry, net)) for net in found] or [("", _nothing(row))]
        shown += with_ours(str(row.excluded), told, ours)
    notes = [
        f"{'; '.join(dict.fromkeys(row.structure for row in rows))}; on test games. {RANKS}",
        legend(row.evidence for row in rows),
        *coverage(
            registry,
            used,
            lambda net: f"{net.study.budget_label} budget, {in_short(net.study.coverage)}",
            "; 95 % intervals are in the CSV file",
        ),
    ]
    return Table(f"ablation-{published.id}", title, _COLUMNS, tuple(shown), tuple(filter(None, notes)))


def _own(registry: Registry, net: MeasuredNet) -> dict[str, Cell]:
    chosen = comparable(registry, net)
    cells = {f"{column}_ours": level_alone(net, chosen, *about) for column, about in METRICS_OF.items()}
    return {**cells, "ours": text_cell(net.title)}


def _nothing(row: PublishedRow) -> dict[str, Cell]:
    card = None if row.ours is None else row.ours.card
    cells = {f"{column}_ours": Cell(formats.NONE) for column in METRICS_OF}
    return {**cells, "ours": text_cell(f"{NOT_HERE}: make ablation NAME={card}" if card else NOT_HERE)}
