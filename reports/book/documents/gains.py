"""What changes are said to be worth, with the effect of the same change measured here."""

from collections.abc import Sequence

from ablations.published_results import Published, PublishedGain
from reports.book.documents.ours import with_ours
from reports.book.documents.printing import NOT_HERE, legend, mark
from reports.results.compare import used_trials
from reports.results.costs import mean_cost
from reports.results.group import MAIN
from reports.results.page import OnPage, PageRow, judge_page
from reports.study.report import Report
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, text_cell

_COLUMNS = (
    Column("change", "change", "left"),
    Column("net", "for", "left", under="change"),
    Column("gain", "gain as told", "left"),
    Column("cost", "cost as told", "left", under="gain"),
    Column("delta", "Δ test top-1 here", parts=("delta", *interval95())),
    Column("q", "q", under="delta"),
    Column("flops", "FLOPs", under="delta"),
    Column("time", "time per sample", under="delta"),
    Column("ours", "measured here", "left"),
    Column("note", "remarks", "left", brief=False),
)
_NOTE = (
    "Δ top-1: with the change minus without it, in points, with its 95 % interval, on the first test evaluation of the "
    "study, by all runs of its base; q is over all effects on top-1 here, of all bases. "
    "Ratios are with : without. Time is that of training steps, where arms were measured alone."
)


def gains_table(published: Published, reports: Sequence[Report], title: str) -> Table:
    """A row per change and group of runs that measured it, under any base and budget."""
    rows = []
    page = judge_page(reports, [(MAIN, "top1")])
    for number, gain in enumerate(published.gains):
        told = {
            "change": text_cell(gain.change + mark(gain.evidence)),
            "net": text_cell(gain.net or formats.NONE),
            "gain": text_cell(gain.gain),
            "cost": text_cell(gain.cost or formats.NONE),
            "note": text_cell(gain.note or ""),
        }
        ours = [
            (f"{card}, {row.report.study.id}", _effect(row, row.effects[MAIN, "top1"]))
            for card in gain.cards
            for row in page
            if row.card == card and (MAIN, "top1") in row.effects
        ]
        rows += with_ours(f"{number}: {gain.change}", told, ours or [("", _nothing(gain))])
    notes = tuple(filter(None, (legend(gain.evidence for gain in published.gains), _NOTE)))
    return Table(f"gains-{published.id}", title, _COLUMNS, tuple(rows), notes)


def _effect(row: PageRow[Report], page: OnPage) -> dict[str, Cell]:
    results, effect = row.report.results, page.effect
    study, ends = results.study, effect.interval95
    on, off = (mean_cost(results, side) for side in (row.contrast.with_it, row.contrast.without))
    trials, time = used_trials(results, row.contrast, MAIN), on.time_to(off)
    value = [effect.delta, *([] if ends is None else [ends.low, ends.high])]
    where = f"{row.card} on {study.base} ({study.budget_label}, {study.data})"
    return {
        "q": Cell(formats.q_value(effect.q), effect.q, trials, MAIN),
        "delta": Cell(formats.with_interval(effect.delta, ends, "share"), value, trials, MAIN),
        "flops": Cell(formats.ratio(on.flops / off.flops), on.flops / off.flops),
        "time": Cell(formats.ratio(time), time),
        "ours": text_cell(f"{where}, {effect.runs[0]} and {effect.runs[1]} runs"),
    }


def _nothing(gain: PublishedGain) -> dict[str, Cell]:
    cards = " or ".join(f"NAME={card}" for card in gain.cards)
    way = f"{NOT_HERE}: make ablation {cards}" if cards else f"{NOT_HERE}: no enhancement is this change"
    return {**{key: Cell(formats.NONE) for key in ("delta", "q", "flops", "time")}, "ours": text_cell(way)}
