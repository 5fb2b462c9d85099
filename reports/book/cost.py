"""Gain against cost: every measured effect on the loss with what it costs, and which of them nothing cheaper beats."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from gonn_core.errors import printable
from reports.book.section import Section
from reports.figures.panels import nats_axis
from reports.figures.picture import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.results.compare import MAIN, study_thresholds, used_trials
from reports.results.costs import mean_cost
from reports.results.page_family import PAGE_NOTE, EffectKey, OnPage, judge_page
from reports.stats.estimates import Effect, Interval
from reports.study.report import Report
from reports.summary.figure import TICKS
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.verdicts import BOUND, verdict_bound, verdict_text

_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", under="card"),
    Column("delta", "Δ test nats", parts=("delta_test_nats", *interval95())),
    Column("p", "p (page)", under="delta"),
    Column("verdict", "verdict", "left"),
    BOUND,
    Column("flops", "FLOPs"),
    Column("time", "time per sample", under="flops"),
    Column("parameters", "Δ parameters", under="flops"),
    Column("front", "on the front", "left"),
    Column("study", "study", "left", brief=False),
)
NAMED_AT_MOST = 16
AXES = {"flops": "FLOPs per sample, with : without", "time": "training time per sample, with : without"}


@dataclass(frozen=True)
class Gain:
    """One effect on the loss and its price: ratios with : without (time: None where speeds were not measured),
    parameters as a difference."""

    card: str
    report: Report
    delta: float
    interval95: Interval | None
    flops: float
    time: float | None
    parameters: float
    trials: tuple[str, ...]
    effect: Effect
    page: OnPage

    @property
    def group(self) -> tuple:
        """Gains that can be weighed against each other: one base, budget, data and test games."""
        study = self.report.study
        return study.base, study.budget, study.data, study.evaluations[MAIN].subset


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


def gains(reports: Sequence[Report]) -> list[Gain]:
    """Every effect on the loss; of a card that several studies measured on one base, the one with most seeds."""
    best: dict[tuple, tuple[int, Gain]] = {}
    on_page = judge_page([(report.study, report.analyses) for report in reports], [(MAIN, "nats")])
    for report in reports:
        for contrast in report.study.contrasts:
            effect = report.analyses[MAIN, "nats"].effect(contrast.card)
            if effect is None:
                continue
            on, off = mean_cost(report.results, contrast.with_it), mean_cost(report.results, contrast.without)
            time = None
            if on.samples_per_s is not None and off.samples_per_s is not None:
                time = off.samples_per_s / on.samples_per_s
            trials = used_trials(report.results, contrast, effect, MAIN)
            gain = Gain(
                contrast.card,
                report,
                effect.delta,
                effect.interval95,
                on.flops / off.flops,
                time,
                on.parameters - off.parameters,
                trials,
                effect,
                on_page[EffectKey(report.study.id, MAIN, "nats", contrast.card)],
            )
            key = (*gain.group, gain.card)
            if key not in best or effect.n > best[key][0]:
                best[key] = (effect.n, gain)
    return sorted((gain for _, gain in best.values()), key=lambda gain: (gain.group, gain.delta, gain.card))


def front(chosen: Sequence[Gain], cost: str) -> list[Gain]:
    """Of gains of one group those that lower the loss and that none as cheap or cheaper lowers more: the Pareto front,
    by rising cost."""
    lowest, optimal = 0.0, []
    for gain in sorted(
        (gain for gain in chosen if getattr(gain, cost) is not None),
        key=lambda gain: (getattr(gain, cost), gain.delta, gain.card),
    ):
        if gain.delta < lowest:
            lowest = gain.delta
            optimal.append(gain)
    return optimal


def cost_table(all_gains: Sequence[Gain]) -> Table:
    """One row per effect, the largest gain first within its base."""
    groups = dict.fromkeys(gain.group for gain in all_gains)
    fronts = {cost: [gain for group in groups for gain in front(_of(all_gains, group), cost)] for cost in AXES}
    rows = []
    for gain in all_gains:
        on = [label for cost, label in (("flops", "FLOPs"), ("time", "time")) if gain in fronts[cost]]
        ends = [] if gain.interval95 is None else [gain.interval95.low, gain.interval95.high]
        cells = {
            "card": text_cell(gain.card),
            "base": text_cell(f"{gain.report.study.base}, {gain.report.study.budget}"),
            "delta": Cell(formats.with_interval(gain.delta, gain.interval95), [gain.delta, *ends], gain.trials, MAIN),
            "p": Cell(formats.p_value(gain.page.p), gain.page.p, gain.trials, MAIN),
            "verdict": Cell(_verdict(gain), str(gain.page.verdict), gain.trials),
            "bound": Cell("", verdict_bound(gain.page.verdict, gain.effect), gain.trials),
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
    return Table("cost", "Gain and cost", _COLUMNS, tuple(rows), (note, PAGE_NOTE))


def _verdict(gain: Gain) -> str:
    level = study_thresholds(gain.report.study).equivalence_level
    return verdict_text(gain.page.verdict, gain.effect, level=level)


def _of(all_gains: Sequence[Gain], group: tuple) -> list[Gain]:
    return [gain for gain in all_gains if gain.group == group]


def cost_picture(all_gains: Sequence[Gain]) -> Picture | None:
    """Δ nats against both costs, a panel each, with the fronts; None without any effect."""
    groups = list(dict.fromkeys(gain.group for gain in all_gains))
    if not groups:
        return None
    costs = [cost for cost in AXES if any(getattr(gain, cost) is not None for gain in all_gains)]

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(costs), 1, squeeze=False)[:, 0]
        for axes, cost in zip(panels, costs, strict=True):
            axes.axhline(0.0, color="0.35", linewidth=0.9)
            axes.axvline(1.0, color="0.8", linewidth=0.9, zorder=0)
            for index, group in enumerate(groups):
                _draw_group(
                    axes, _of(all_gains, group), cost, COLOURS[index % len(COLOURS)], f"{group[0]}, {group[1]} budget"
                )
            axes.set_yscale("symlog", linthresh=0.05, linscale=1.5)
            axes.minorticks_off()
            axes.set_yticks([tick for tick in TICKS if _between(tick, axes.get_ylim())])
            axes.set_xlabel(AXES[cost] + " (right: dearer)")
            axes.set_ylabel("Δ test nats (below 0: helps)")
            axes.margins(x=0.08)
            nats_axis(axes.yaxis)
            axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # settled: labels are placed by them
            _label(axes, [point for group in groups for point in _named(_of(all_gains, group), cost, len(all_gains))])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=2, alignment="left")

    inputs = tuple((gain.group, gain.card, gain.delta, gain.interval95, gain.flops, gain.time) for gain in all_gains)
    size = (WIDTH, 0.5 + 3.4 * len(costs))
    title = "Gain in test nats against cost; lines: what nothing cheaper beats"
    return Picture("cost", title, lambda: figure_bytes("cost", size, paint), inputs)


def _between(value: float, ends: tuple[float, float]) -> bool:
    return min(ends) <= value <= max(ends)


def _named(chosen: list[Gain], cost: str, total: int) -> list[tuple[float, float, str]]:
    """Points to be named, as (x, y, name): all of a few, else those on the front; more would hide the points."""
    shown = [gain for gain in chosen if getattr(gain, cost) is not None]
    return [
        (getattr(gain, cost), gain.delta, printable(gain.card, 40))
        for gain in (shown if total <= NAMED_AT_MOST else front(shown, cost))
    ]


def _draw_group(axes, chosen: list[Gain], cost: str, colour: str, label: str) -> None:
    shown = [gain for gain in chosen if getattr(gain, cost) is not None]
    if not shown:
        return
    xs, ys = [getattr(gain, cost) for gain in shown], [gain.delta for gain in shown]
    axes.plot(xs, ys, linestyle="none", marker="o", markersize=4.5, color=colour, label=label)
    for gain, x in zip(shown, xs, strict=True):
        if gain.interval95 is not None:
            axes.plot([x, x], [gain.interval95.low, gain.interval95.high], color=colour, linewidth=0.9, alpha=0.6)
    best = front(shown, cost)
    if best:
        axes.step(
            [getattr(gain, cost) for gain in best],
            [gain.delta for gain in best],
            where="post",
            color=colour,
            linewidth=1.2,
            alpha=0.5,
        )


def _free(taken: Sequence[float], height: float, way: int) -> float:
    """The nearest height in that direction (1: up) at which a line of text lies on none of those taken."""
    while clash := [other for other in taken if abs(other - height) < _LINE]:
        height = (max if way > 0 else min)(clash) + way * 1.01 * _LINE  # beyond rounding: else it would clash for ever
    return height


def _label(axes, points: list[tuple[float, float, str]]) -> None:
    """Names beside points (x, y, name), pushed down where they would lie on another or on a point, up where the panel
    ends; a thin line leads to each."""

    def place(x: float, y: float) -> tuple[float, float]:
        return tuple(axes.transAxes.inverted().transform(axes.transData.transform((x, y))))

    places = [place(x, y) for x, y, _ in points]
    taken = [(across - _DOT, across + _DOT, height) for across, height in places]
    for x, y, name in sorted(points, key=lambda point: (-point[1], point[0], point[2])):
        across, height = place(x, y)
        width = _LETTER * len(name)
        right = across + width + 0.03 < 1
        start = across + 0.02 if right else across - 0.02 - width
        columns = [low for left, end, low in taken if left < start + width and start < end]
        lower = _free(columns, height, -1)
        height = lower if lower >= _FLOOR else _free(columns, max(height, _FLOOR), 1)
        taken.append((start, start + width, height))
        arrow = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
        end = start if right else start + width
        axes.annotate(
            name,
            (x, y),
            xytext=(end, height),
            textcoords="axes fraction",
            fontsize=7.5,
            color="0.25",
            ha="left" if right else "right",
            va="center",
            arrowprops=arrow,
            bbox=_PLATE,
            zorder=1.5,
        )


_PLATE = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.75, "linewidth": 0}
_LETTER, _LINE, _DOT = 0.0115, 0.05, 0.012  # of a panel's width and height: a letter, a line of text, half a point
_FLOOR = 0.02
"""Of a panel's height: no name lies lower, on the axis."""
