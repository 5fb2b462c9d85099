"""What changes are said to be worth, with the effect of the same change measured here."""

from collections.abc import Mapping, Sequence

from ablations.published_results import Published, PublishedGain
from reports.book.documents.ours import with_ours
from reports.book.documents.printing import NOT_HERE, legend, mark
from reports.results.compare import used_trials
from reports.results.costs import mean_cost
from reports.results.group import MAIN
from reports.results.page_family import EffectKey, OnPage, judge_page
from reports.study.report import Report
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, text_cell

_COLUMNS = (
    Column("change", "change", "left"),
    Column("net", "for", "left", under="change"),
    Column("gain", "gain as told", "left"),
    Column("cost", "cost as told", "left", under="gain"),
    Column("delta", "Δ test top-1 here", parts=("delta", *interval95())),
    Column("p", "p (page)", under="delta"),
    Column("flops", "FLOPs", under="delta"),
    Column("time", "time per sample", under="delta"),
    Column("ours", "measured here", "left"),
    Column("note", "remarks", "left", brief=False),
)
_NOTE = (
    "Δ top-1: with the change minus without it, in points, with its 95 % interval, on the first test evaluation of the "
    "study; p (page) is adjusted over all effects of this page on top-1, of all bases. "
    "Ratios are with : without. Time is that of training steps, where arms were measured alone."
)


def gains_table(published: Published, reports: Sequence[Report], title: str) -> Table:
    """A row per change and study that measured it, under any base and budget."""
    rows = []
    on_page = judge_page([(report.study, report.analyses) for report in reports], [(MAIN, "top1")])
    for number, gain in enumerate(published.gains):
        told = {
            "change": text_cell(gain.change + mark(gain.evidence)),
            "net": text_cell(gain.net or formats.NONE),
            "gain": text_cell(gain.gain),
            "cost": text_cell(gain.cost or formats.NONE),
            "note": text_cell(gain.note or ""),
        }
        ours = [
            (f"{card}, {report.study.id}", cells)
            for card in gain.cards
            for report in reports
            if (cells := _effect(report, card, on_page)) is not None
        ]
        rows += with_ours(f"{number}: {gain.change}", told, ours or [("", _nothing(gain))])
    notes = tuple(filter(None, (legend(gain.evidence for gain in published.gains), _NOTE)))
    return Table(f"gains-{published.id}", title, _COLUMNS, tuple(rows), notes)


def _effect(report: Report, card: str, on_page: Mapping[EffectKey, OnPage]) -> dict[str, Cell] | None:
    """None where the study has no result of that card."""
    effect = report.analyses[MAIN, "top1"].effect(card)
    contrast = next((each for each in report.study.contrasts if each.card == card), None)
    if effect is None or contrast is None:
        return None
    study, ends = report.study, effect.interval95
    on, off = mean_cost(report.results, contrast.with_it), mean_cost(report.results, contrast.without)
    time = None
    if on.samples_per_s is not None and off.samples_per_s is not None:
        time = off.samples_per_s / on.samples_per_s
    trials = used_trials(report.results, contrast, effect, MAIN)
    value = [effect.delta, *([] if ends is None else [ends.low, ends.high])]
    seeds, page = f"{effect.n} seed{'s' * (effect.n != 1)}", on_page[EffectKey(study.id, MAIN, "top1", card)]
    return {
        "p": Cell(formats.p_value(page.p), page.p, trials, MAIN),
        "delta": Cell(formats.with_interval(effect.delta, ends, "share"), value, trials, MAIN),
        "flops": Cell(formats.ratio(on.flops / off.flops), on.flops / off.flops),
        "time": Cell(formats.ratio(time), time),
        "ours": text_cell(f"{card} on {study.base} ({study.budget_label}, {study.data}), {seeds}"),
    }


def _nothing(gain: PublishedGain) -> dict[str, Cell]:
    cards = " or ".join(f"NAME={card}" for card in gain.cards)
    way = f"{NOT_HERE}: make ablation {cards}" if cards else f"{NOT_HERE}: no enhancement is this change"
    return {**{key: Cell(formats.NONE) for key in ("delta", "p", "flops", "time")}, "ours": text_cell(way)}
