"""What every measured effect on the loss costs: the figure of gain against cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reports.cache import Picture
from reports.figures.marks import MARKS, Mark, draw_effect, effects_axis, handles, legend, name_rows
from reports.figures.style import COLOURS, WIDTH, figure_bytes, reach
from reports.results.costs import mean_cost
from reports.results.group import MAIN
from reports.results.page import OnPage
from reports.stats.estimates import Effect
from reports.study.report import Report
from reports.summary.lines import SummaryLine

COST = (
    "What every enhancement gains in nats, and its cost. Filled circles are on the Pareto front: they lower the loss, "
    "and no enhancement of the same base, budget and data with the same cost or less lowers it more. Noise is ignored "
    "here. Time is that of training steps, each arm measured alone."
)
COSTS = {"flops": "FLOPs", "time": "time"}
"""Fields of a gain -> what they are called."""


@dataclass(frozen=True)
class Gain:
    """One effect on the loss and its cost as ratios, with ÷ without (time: None where speeds were not measured)."""

    card: str
    report: Report
    flops: float
    time: float | None
    page: OnPage

    @property
    def effect(self) -> Effect:
        return self.page.effect

    @property
    def group(self) -> tuple:
        """Gains that can be weighed against each other: one base, budget, data, samples and test games."""
        study = self.report.study
        samples = study.arms[0].config.training.samples
        return study.base, study.budget_label, study.data, samples, study.evaluations[MAIN].subset


def gains(lines: Sequence[SummaryLine]) -> list[Gain]:
    """Every effect on the loss, once for each group of runs, by group and size."""
    found = []
    for line in lines:
        if line.page is not None:
            results = line.report.results
            on, off = (mean_cost(results, side) for side in (line.contrast.with_it, line.contrast.without))
            found.append(Gain(line.card, line.report, on.flops / off.flops, on.time_to(off), line.page))
    return sorted(found, key=lambda gain: (gain.group, gain.effect.delta, gain.card))


def front(chosen: Sequence[Gain], cost: str) -> list[Gain]:
    """Of gains of one group those that lower the loss and that none as cheap or cheaper lowers more: the Pareto front,
    by rising cost."""
    lowest, optimal = 0.0, []
    for gain in sorted(
        (gain for gain in chosen if getattr(gain, cost) is not None),
        key=lambda gain: (getattr(gain, cost), gain.effect.delta, gain.card),
    ):
        if gain.effect.delta < lowest:
            lowest = gain.effect.delta
            optimal.append(gain)
    return optimal


_AXES = {"flops": "FLOPs,\nwith ÷ without", "time": "training time,\nwith ÷ without"}
_COST = Mark("0.45", "o", False)
_BEST = Mark(COLOURS[2], "o", True)


def cost_picture(all_gains: Sequence[Gain]) -> Picture | None:
    """A panel for Δ nats and one for each cost, all linear; rows by base, the largest gain first. None without any
    effect."""
    rows = _rows(all_gains)
    if not rows:
        return None
    costs = [cost for cost in COSTS if any(getattr(gain, cost) is not None for gain in all_gains)]
    inputs = tuple((gain.group, gain.card, gain.page, gain.flops, gain.time) for gain in all_gains)
    size = (WIDTH, 1.6 + 0.25 * len(rows))
    title = "Gain in test nats, and what it costs"
    return Picture(
        "cost", title, lambda: figure_bytes("cost", size, lambda figure: _paint(figure, rows, costs)), inputs
    )


def _rows(all_gains: Sequence[Gain]) -> list[Gain | str]:
    """Rows from top to bottom: the name of a base, then its gains; without names where there is one base alone."""
    groups = list(dict.fromkeys(gain.group for gain in all_gains))
    rows: list[Gain | str] = []
    for group in groups:
        rows += [f"{group[0]}, {group[1]}"] if len(groups) > 1 else []
        rows += [gain for gain in all_gains if gain.group == group]
    return rows


def _paint(figure: Figure, rows: Sequence[Gain | str], costs: Sequence[str]) -> None:
    panels = figure.subplots(1, 1 + len(costs), sharey=True, squeeze=False, width_ratios=(1.9, *[1.0] * len(costs)))[0]
    placed = [(place, gain) for place, gain in enumerate(rows) if not isinstance(gain, str)]
    off = _gains(panels[0], placed)
    for axes, cost in zip(panels[1:], costs, strict=True):
        off |= _costs(axes, placed, cost)
    names = [row if isinstance(row, str) else row.card for row in rows]
    name_rows(panels[0], names, [isinstance(row, str) for row in rows])
    for axes in panels:
        axes.tick_params(axis="y", length=0)
    keys = handles([gain.page.verdict for _, gain in placed], off)
    keys.append(
        Line2D([], [], linestyle="none", label="lowers the loss more than all as cheap on this base", **_BEST.style())
    )
    legend(figure, keys)


def _gains(axes, placed: Sequence[tuple[int, Gain]]) -> bool:
    within = effects_axis(axes, [(gain.effect.delta, gain.effect.interval95) for _, gain in placed], ticks=5)
    axes.set_xlabel("Δ test nats, with − without\n(left of 0: helps)")
    drawn = [
        draw_effect(axes, place, gain.effect.delta, gain.effect.interval95, MARKS[gain.page.verdict], within)
        for place, gain in placed
    ]
    return any(drawn)


def _costs(axes, placed: Sequence[tuple[int, Gain]], cost: str) -> bool:
    known = [(place, gain, getattr(gain, cost)) for place, gain in placed if getattr(gain, cost) is not None]
    groups = dict.fromkeys(gain.group for _, gain, _ in known)
    best = [each for group in groups for each in front([gain for _, gain, _ in known if gain.group == group], cost)]
    within = reach([(ratio, None) for *_, ratio in known], centre=1.0, far=10.0)
    axes.axvline(1.0, color="0.35", linewidth=0.9)
    axes.set_xlim(within.low, within.high)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.set_xlabel(_AXES[cost])
    off = False
    for place, gain, ratio in known:
        mark = _BEST if any(gain is each for each in best) else _COST
        off |= draw_effect(axes, place, ratio, None, mark, within, f"× {ratio:.3g}")
    return off
