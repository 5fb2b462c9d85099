"""Gain against cost: the section of curves, gains and costs, and its table."""

from collections.abc import Sequence

from reports.book.cost.gains import COSTS, Gain, front, gains
from reports.book.cost.picture import cost_picture
from reports.book.section import Section
from reports.figures.picture import Picture
from reports.results.group import MAIN
from reports.study.report import Report
from reports.study.tables import effect_cells
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.verdicts import BOUND

_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", under="card"),
    Column("delta", "Δ test nats", parts=("delta_test_nats",)),
    Column("interval", "95 % interval", under="delta", parts=interval95()),
    Column("q", "q", printed=False),
    Column("verdict", "verdict", "left"),
    BOUND,
    Column("flops", "FLOPs"),
    Column("time", "time per sample", under="flops"),
    Column("parameters", "Δ parameters", under="flops"),
    Column("front", "on the front", "left"),
    Column("study", "study", "left", brief=False),
)
_Q_NOTE = "q: over all effects of this table, of all bases."


def cost_section(reports: Sequence[Report], curves: Sequence[Picture]) -> Section:
    """Curves of every study, then all gains with what they cost."""
    title, all_gains = "Curves, gain and cost", gains(reports)
    picture = cost_picture(all_gains)
    if picture is None:
        return Section(title, ("No effect is measured yet.",), tuple(curves))
    text = (
        "Loss over samples and paired differences of every study; what every enhancement gains in nats, and what it "
        "costs."
    )
    return Section(title, (text,), (picture, *curves), (cost_table(all_gains),))


def cost_table(all_gains: Sequence[Gain]) -> Table:
    """One row per effect, the largest gain first within its base."""
    groups = dict.fromkeys(gain.group for gain in all_gains)
    fronts = {cost: [gain for group in groups for gain in front(_of(all_gains, group), cost)] for cost in COSTS}
    rows = []
    for gain in all_gains:
        on = [label for cost, label in COSTS.items() if gain in fronts[cost]]
        cells = {
            **effect_cells(gain.effect, gain.page.at_base, gain.page.verdict, gain.trials, MAIN),
            "card": text_cell(gain.card),
            "base": text_cell(f"{gain.report.study.base}, {gain.report.study.budget_label}"),
            "flops": Cell(formats.ratio(gain.flops), gain.flops),
            "time": Cell(formats.ratio(gain.time), gain.time),
            "parameters": Cell(formats.signed_count(gain.parameters), gain.parameters),
            "front": Cell(", ".join(on) or formats.NONE, ", ".join(on)),
            "study": text_cell(gain.report.study.id),
        }
        rows.append(Row(f"{gain.report.study.id}: {gain.card}", cells))
    note = (
        "On the front: it lowers the loss, and no other enhancement of the same base, budget and data that costs as "
        "little or less lowers it more (noise is not"
        " weighed here). Time is that of training steps, each arm measured alone; ratios are with : without."
    )
    return Table("cost", "Gain and cost", _COLUMNS, tuple(rows), (note, _Q_NOTE))


def _of(all_gains: Sequence[Gain], group: tuple) -> list[Gain]:
    return [gain for gain in all_gains if gain.group == group]
