"""The figure of a factorial or a screen: a half-normal plot of effects and interactions, and a plot of each pair.

In a half-normal plot what is noise alone lies on a line through the origin; what is more stands out to the right.
"""

import math
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.special import ndtri

from gonn_core.errors import printable
from reports.figures.axes import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.screen.findings import RunsFindings
from reports.stats.pairs import PairTable
from reports.stats.verdicts import EffectVerdict

NAME = "screen"
PAIRS_DRAWN = 6
A_ROW = 3


def draw_runs(found: RunsFindings) -> dict[str, bytes]:
    """`screen.png` and `screen.svg` as bytes; none while there is nothing to draw."""
    (points, typical), pairs = _points(found), found.pairs[:PAIRS_DRAWN]
    if not points:
        return {}
    rows = math.ceil(len(pairs) / A_ROW)

    def paint(figure: Figure) -> None:
        grid = figure.add_gridspec(1 + rows, A_ROW, height_ratios=(3.4, *[2.6] * rows))
        _half_normal(figure.add_subplot(grid[0, :]), found, points, typical)
        first = None
        for index, pair in enumerate(pairs):
            first = _draw_pair(figure.add_subplot(grid[1 + index // A_ROW, index % A_ROW], sharey=first), pair)

    return figure_bytes(NAME, (WIDTH, 3.4 + 2.6 * rows), paint, salt=found.study.id)


@dataclass(frozen=True)
class _Point:
    """value: its size, at the noise that a typical one has; quantile: its place among all."""

    value: float
    quantile: float
    name: str
    shown: bool
    main: bool


def _points(found: RunsFindings) -> tuple[list[_Point], float]:
    """Main effects and strings of interactions, the smallest first, and the typical variance of one, in runs."""
    table = found.nats.table
    every = []
    for card, estimate in found.main.items():
        shown = table is not None and table.verdicts.get(card) in (EffectVerdict.HELPS, EffectVerdict.HURTS)
        every.append((estimate, card, shown, True))
    for string in found.interactions.strings:
        if string.estimate is not None:
            one, other = next(iter(string.pairs))
            more = f" or {len(string.pairs) - 1} more" if len(string.pairs) > 1 else ""
            every.append((string.estimate, f"{one}×{other}{more}", string in found.shown, False))
    if not every:
        return [], 1.0
    typical = sorted(estimate.size for estimate, *_ in every)[len(every) // 2]
    scaled = sorted(
        (abs(each.value) * math.sqrt(typical / each.size), name, shown, main) for each, name, shown, main in every
    )
    points = [
        _Point(value, float(ndtri(0.5 + (index + 0.5) / len(scaled) / 2)), name, shown, main)
        for index, (value, name, shown, main) in enumerate(scaled)
    ]
    return points, typical


def _half_normal(axes, found: RunsFindings, points: list[_Point], typical: float) -> None:
    for point in points:
        colour = COLOURS[0] if point.main else COLOURS[1]
        face = colour if point.shown else "white"
        marker = "o" if point.main else "s"
        axes.plot(
            [point.value], [point.quantile], marker=marker, markersize=5, color=colour, markerfacecolor=face, zorder=3
        )
        if point.shown:
            place = {"xytext": (-7, 0), "textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 8}
            axes.annotate(printable(point.name, 60), (point.value, point.quantile), **place)
    axes.set(xlabel="size of the effect (test nats)", ylabel="half-normal quantile", title="What is more than noise")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    nats_axis(axes.xaxis)
    noise = found.nats.table.noise if found.nats.table else None
    handles = [_handle("o", COLOURS[0], "main effects"), _handle("s", COLOURS[1], "interactions of two")]
    if noise is not None and noise.variance > 0:
        slope = math.sqrt(noise.variance * typical)
        end = min(axes.get_xlim()[1], slope * axes.get_ylim()[1])
        axes.plot([0, end], [0, end / slope], color="0.6", linewidth=1.0, zorder=0)
        handles.append(Line2D([], [], color="0.6", linewidth=1.0, label="noise alone"))
    axes.legend(handles=handles, loc="lower right")


def _draw_pair(axes, pair: PairTable):
    """Lines that are not parallel are an interaction. Returns the axes."""
    for index, other in enumerate((False, True)):
        values = [pair.cells[one, other] for one in (False, True)]
        label = f"{'with' if other else 'without'} {printable(pair.other, 28)}"
        axes.plot([0, 1], values, marker="o", markersize=4, color=COLOURS[index], label=label)
    axes.set_xticks([0, 1], ["without", "with"])
    axes.set_xlim(-0.25, 1.25)
    axes.set_xlabel(printable(pair.one, 28), fontsize=8.5)
    axes.tick_params(labelsize=8)
    nats_axis(axes.yaxis)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7.5, ncols=1)
    return axes


def _handle(marker: str, colour: str, label: str) -> Line2D:
    return Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=5, label=f"{label} (filled: shown)")
