"""What one document tells of its own nets, with the bases of its system measured here below."""

from collections.abc import Sequence

from ablations.published_results import Published, PublishedRow
from ablations.registry import Registry
from reports.book.documents.comparison import own_start
from reports.book.documents.ours import comparable, key, level_alone, system
from reports.book.documents.printing import NOT_HERE, count, legend, mark, number, share
from reports.results.nets import MeasuredNet
from reports.tables import formats
from reports.tables.cells import Column, Row, Table, interval95, text_cell
from reports.tables.formats import in_short

_COLUMNS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left", under="source"),
    Column("data", "data set", "left"),
    Column("parameters", "parameters", under="source"),
    Column("accuracy", "accuracy", parts=("accuracy", *interval95("accuracy"))),
    Column("rank", "rank", parts=("rank", *interval95("rank"))),
    Column("probability", "probability", parts=("probability", *interval95("probability"))),
    Column("steps", "training steps", under="data"),
    Column("note", "remarks", "left", brief=False),
)
_NEEDED = ("accuracy", "source", "structure", "data", "parameters", "steps", "note")
METRICS_OF = {"accuracy": ("top1", None), "rank": ("rank", 2), "probability": ("probability", 4)}
"""Column -> metric, and the digits that the document prints (None: per cent)."""
RANKS = "Rank: mean place of the move played in the net's order, 1 the likeliest; probability: mean of its own."


def nets_table(
    registry: Registry, published: Published, rows: Sequence[PublishedRow], nets: Sequence[MeasuredNet], title: str
) -> Table:
    """Rows as published, then the bases of that system; rank and probability where the document has them."""
    own = [net for net in nets if net.base and system(registry, net) == published.id]
    both = any(row.rank is not None or row.probability is not None for row in rows)
    columns = tuple(column for column in _COLUMNS if both or column.key in _NEEDED)
    notes = [legend(row.evidence for row in rows)]
    if both:
        notes.append(RANKS)
    if not own:
        notes.append(f"Bases of this system: {NOT_HERE}.")
    cells = [_published(row, index) for index, row in enumerate(rows)]
    shown = (*cells, *(_own(registry, net) for net in own))
    return Table(f"nets-{published.id}", title, columns, shown, tuple(filter(None, notes)))


def _published(row: PublishedRow, index: int) -> Row:
    cells = {
        "source": text_cell(row.source + mark(row.evidence)),
        "structure": text_cell(row.structure),
        "data": text_cell(row.data),
        "parameters": count(row.parameters, row.printed.get("parameters")),
        "accuracy": share(row.top1, digits=_digits(row.top1)),
        "rank": number(row.rank, 2),
        "probability": number(row.probability, 4),
        "steps": text_cell(row.steps or formats.NONE),
        "note": text_cell(row.note or ""),
    }
    return Row(f"{index}: {row.source}, {row.structure}, {row.data}", cells)


def _digits(value: float | None) -> int:
    """Decimals of a percentage: those that were printed, of 41.1 and 41.06."""
    return 1 if value is None or round(value, 3) == value else 2


def _own(registry: Registry, net: MeasuredNet) -> Row:
    chosen = comparable(registry, net)
    cells = {**own_start(net), "data": text_cell(net.study.data), "note": text_cell(in_short(net.study.coverage))}
    cells |= {column: level_alone(net, chosen, *about) for column, about in METRICS_OF.items()}
    return Row(key(net), cells)
