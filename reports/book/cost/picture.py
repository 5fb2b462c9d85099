"""The figure of gain against cost: a row an effect, its gain, and beside it what it costs."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gonn_core.errors import printable
from reports.book.cost.gains import COSTS, Gain, front
from reports.figures.axes import nats_axis
from reports.figures.marks import MARKS, Mark, draw_effect, handles, legend, reach
from reports.figures.picture import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes

_AXES = {"flops": "FLOPs,\nwith : without", "time": "training time,\nwith : without"}
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
    names = [printable(row if isinstance(row, str) else row.card, 60) for row in rows]
    panels[0].set_yticks(range(len(rows)), names)
    for label, row in zip(panels[0].get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if isinstance(row, str) else "normal")
    panels[0].set_ylim(len(rows) - 0.4, -0.6)
    for axes in panels:
        axes.tick_params(axis="y", length=0)
    keys = handles([gain.page.verdict for _, gain in placed], off)
    keys.append(
        Line2D([], [], linestyle="none", label="lowers the loss more than all as cheap on this base", **_BEST.style())
    )
    legend(figure, keys)


def _gains(axes, placed: Sequence[tuple[int, Gain]]) -> bool:
    within = reach([(gain.effect.delta, gain.effect.interval95) for _, gain in placed])
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    axes.set_xlim(within.low, within.high)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    nats_axis(axes.xaxis)
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
