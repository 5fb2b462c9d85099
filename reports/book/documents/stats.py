"""GoNN's further numbers (top-4, loss, perplexity), published and measured here."""

import math
from collections.abc import Sequence

from ablations.published_results import PublishedRow
from ablations.registry import Registry
from gonn_core.metrics import METRICS, SUMMARISED
from reports.book.documents.comparison import own_start
from reports.book.documents.ours import comparable, coverage, key
from reports.book.documents.printing import count, legend, mark, number, share
from reports.page import Section
from reports.results.nets import MeasuredNet, level, perplexity_cell
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.tables.formats import HISTORY, in_short

TITLE = "Other stats"
_COLUMNS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left"),
    Column("data", "data set", "left"),
    Column("parameters", "parameters"),
    Column("top1", "test top-1", parts=("test_top1",)),
    Column("top4", "test top-4", under="top1", parts=("test_top4",)),
    Column("nats", "test nats", parts=("test_nats",)),
    Column("perplexity", "perplexity", under="nats"),
    Column("steps", "training steps", under="data"),
    Column("history", "history in the test rows", "left", brief=False),
)
_PERPLEXITY = (
    "Perplexity is exp(nats): of how many equally likely moves the net is as unsure. The document works it out "
    "for one net (3.967); for the others it is worked out here. GoNN's test rows of March 2018 had a tenth of their "
    "history dropped, as its training rows."
)


def stats_section(registry: Registry, nets: Sequence[MeasuredNet]) -> Section:
    """Structure, data set, parameters, top-1, top-4, nats, perplexity, steps: published and the bases measured here;
    folded: every arm measured here."""
    published = [row for each in registry.published.values() for row in each.rows if row.nats is not None]
    bases = [net for net in nets if net.base]
    rows = [*map(_published, published), *(_own(registry, net) for net in bases)]
    notes = (
        legend([row.evidence for row in published]),
        _PERPLEXITY,
        *coverage(registry, nets, lambda net: in_short(net.study.coverage)),
    )
    table = Table("stats", TITLE, _COLUMNS, tuple(rows), tuple(filter(None, notes)))
    if not nets:
        return Section(TITLE, ("Published nets of which the loss is told.",), tables=(table,))
    text = (
        f"Published nets of which the loss is told, then the bases measured here, each tested as its document tests; "
        f"all {len(nets)} nets measured here are in the folded table."
    )
    arms = Table("stats-all", "Every net measured here", _COLUMNS, tuple(_own(registry, net) for net in nets))
    return Section(TITLE, (text,), tables=(table,), folded=(arms,))


def _published(row: PublishedRow) -> Row:
    assert row.nats is not None  # of the others there is no row
    cells = {
        "source": text_cell(row.source + mark(row.evidence)),
        "structure": text_cell(row.structure),
        "data": text_cell(row.data),
        "parameters": count(row.parameters),
        "top1": share(row.top1),
        "top4": share(row.top4),
        "nats": number(row.nats, 3),
        "perplexity": number(math.exp(row.nats), 3),
        "steps": text_cell(row.steps or formats.NONE),
        "history": Cell(formats.NONE),
    }
    return Row(f"{row.source}, {row.structure}, {row.data}, {row.steps}", cells)


def _own(registry: Registry, net: MeasuredNet) -> Row:
    chosen = comparable(registry, net)
    history = "" if chosen is None else HISTORY[net.study.evaluations[chosen].history]
    cells = {
        **own_start(net),
        "data": text_cell(net.study.data),
        "perplexity": perplexity_cell(net, chosen),
        "history": text_cell(history),
    }
    trials = tuple(trial.id for trial in net.evaluated(chosen))
    for metric in (column.key for column in _COLUMNS if column.key in SUMMARISED):
        measured = None if chosen is None else level(net, chosen, metric)
        cells[metric] = (
            Cell(formats.NONE)
            if measured is None
            else Cell(formats.level(measured.delta, METRICS[metric].unit), measured.delta, trials, chosen)
        )
    return Row(key(net), cells)
