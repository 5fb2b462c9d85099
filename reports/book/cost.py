"""What every measured effect on the loss costs: the figure of gain against cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reports.cache import Picture
from reports.figures.marks import MARKS, Mark, draw_effect, handles, legend, name_rows, nats_axis
from reports.figures.style import COLOURS, FAR, WIDTH, figure_bytes, reach
from reports.results.compare import OnPage
from reports.results.group import MAIN
from reports.results.nets import mean_cost
from reports.study.report import Report
from reports.summary.lines import SummaryLine

COST = (
    "What every enhancement gains in nats, and its cost. Filled circles are on the Pareto front: they lower the loss, "
    "and no enhancement of the same base, budget and data with the same cost or less lowers it more. Noise is ignored "
    "here. Time is that of training steps, each arm measured alone."
)
_AXES = {"flops": "FLOPs,\nwith ÷ without", "time": "training time,\nwith ÷ without"}
"""Costs, as fields of a gain -> label of their axis."""
_COST = Mark("0.45", "o", False)
_BEST = Mark(COLOURS[2], "o", True)


@dataclass(frozen=True)
class Gain:
    """One effect on the loss and its cost as ratios, with ÷ without (time: None where speeds were not measured)."""

    card: str
    report: Report
    flops: float
    time: float | None
    page: OnPage

    @property
    def group(self) -> tuple:
        """Gains that can be weighed against each other: one base, budget, data, samples and test games."""
        study = self.report.study
        samples = study.arms[0].config.training.samples
        return study.base, study.budget_label, study.data, samples, study.evaluations[MAIN].subset


def gains(lines: Sequence[SummaryLine]) -> list[Gain]:
    """Every effect on the loss, once for each group of runs, by group and size."""
    measured = []
    for line in lines:
        if line.page is not None:
            results = line.report.results
            on, off = (mean_cost(results, side) for side in (line.contrast.with_it, line.contrast.without))
            measured.append(Gain(line.card, line.report, on.flops / off.flops, on.time_to(off), line.page))
    return sorted(measured, key=lambda gain: (gain.group, gain.page.effect.delta, gain.card))


def front(chosen: Sequence[Gain], cost: str) -> list[Gain]:
    """The Pareto front of gains of one group, by rising cost: those that lower the loss and that none as cheap or
    cheaper lowers more."""
    lowest, optimal = 0.0, []
    priced = [(getattr(gain, cost), gain.page.effect.delta, gain) for gain in chosen if getattr(gain, cost) is not None]
    for _, delta, gain in sorted(priced, key=lambda each: (*each[:2], each[2].card)):
        if delta < lowest:
            lowest = delta
            optimal.append(gain)
    return optimal


def cost_picture(all_gains: Sequence[Gain]) -> Picture | None:
    """A panel for Δ nats and one for each cost, all linear; rows by base, the largest gain first. None without any
    effect."""
    if not all_gains:
        return None
    by_group: dict[tuple, list[Gain]] = {}
    for gain in all_gains:
        by_group.setdefault(gain.group, []).append(gain)
    rows: list[Gain | str] = []  # the name of a base, then its gains; one base alone is not named
    for group, members in by_group.items():
        rows += [*([f"{group[0]}, {group[1]}"] if len(by_group) > 1 else []), *members]
    inputs = tuple((gain.group, gain.card, gain.page, gain.flops, gain.time) for gain in all_gains)
    size = (WIDTH, 1.6 + 0.25 * len(rows))
    return Picture(
        "cost",
        "Gain in test nats, and what it costs",
        lambda: figure_bytes("cost", size, lambda figure: _paint(figure, rows, list(by_group.values()))),
        inputs,
    )


def _paint(figure: Figure, rows: Sequence[Gain | str], groups: Sequence[Sequence[Gain]]) -> None:
    placed = [(place, gain) for place, gain in enumerate(rows) if not isinstance(gain, str)]
    costs = [cost for cost in _AXES if any(getattr(gain, cost) is not None for _, gain in placed)]
    panels = figure.subplots(1, 1 + len(costs), sharey=True, squeeze=False, width_ratios=(1.9, *[1.0] * len(costs)))[0]
    points = [(place, gain.page.effect, MARKS[gain.page.verdict]) for place, gain in placed]
    panels[0].set_xlabel("Δ test nats, with − without\n(left of 0: helps)")
    off = _draw(panels[0], [(place, effect.delta, effect.interval95, mark, None) for place, effect, mark in points])
    nats_axis(panels[0].xaxis)
    for axes, cost in zip(panels[1:], costs, strict=True):
        best = {id(gain) for group in groups for gain in front(group, cost)}
        ratios = [
            (place, ratio, None, _BEST if id(gain) in best else _COST, f"× {ratio:.3g}")
            for place, gain in placed
            if (ratio := getattr(gain, cost)) is not None
        ]
        axes.set_xlabel(_AXES[cost])
        off |= _draw(axes, ratios, centre=1.0, far=10.0, ticks=4)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    names = [row if isinstance(row, str) else row.card for row in rows]
    name_rows(panels[0], names, [isinstance(row, str) for row in rows])
    for axes in panels:
        axes.tick_params(axis="y", length=0)
    best_label = "lowers the loss more than all as cheap on this base"
    keys = handles([gain.page.verdict for _, gain in placed], off)
    legend(figure, [*keys, Line2D([], [], linestyle="none", label=best_label, **_BEST.style())])


def _draw(axes, points: Sequence[tuple], centre: float = 0.0, far: float = FAR, ticks: int = 5) -> bool:
    """Draw (row, value, interval, mark, text) on an axis; returns whether any is off the axis."""
    within = reach([(value, ends) for _, value, ends, *_ in points], centre=centre, far=far)
    axes.axvline(centre, color="0.35", linewidth=0.9)
    axes.set_xlim(within.low, within.high)
    axes.xaxis.set_major_locator(MaxNLocator(ticks))
    return any([draw_effect(axes, row, value, ends, mark, within, text) for row, value, ends, mark, text in points])
