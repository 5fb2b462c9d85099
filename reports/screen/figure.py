"""The figure of a factorial or a screen: a half-normal plot of effects and interactions, and a plot of each of the
largest pairs.

In a half-normal plot what is noise alone lies on a line through the origin; what is more is right of it.
"""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.special import ndtri

from gonn_core.errors import printable
from reports.figures.marks import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.results.group import Pair
from reports.results.study_results import OF_RUNS
from reports.screen.interactions import pairs_of
from reports.stats.estimates import Effect
from reports.study.report import Report

NAME = "screen"
PAIRS_DRAWN = 3


def draw_runs(report: Report) -> dict[str, bytes]:
    """`screen.png` and `screen.svg` as bytes; none of other designs, and while there is nothing to draw."""
    pairs = pairs_of(report.study, report.pairs) if report.study.design in OF_RUNS else []
    if not pairs:
        return {}
    main, alpha = list(report.nats.effects.values()), report.study.thresholds.alpha

    def paint(figure: Figure) -> None:
        grid = figure.add_gridspec(2, PAIRS_DRAWN, height_ratios=(4.6, 2.6))
        _half_normal(figure.add_subplot(grid[0, :]), main, [pair.effect for pair in pairs], alpha)
        first = None
        for index, pair in enumerate(pairs[:PAIRS_DRAWN]):
            first = _draw_pair(figure.add_subplot(grid[1, index], sharey=first), pair)

    return figure_bytes(NAME, (WIDTH, 7.2), paint, salt=report.study.id)


def _half_normal(axes, main: list[Effect], interactions: list[Effect], alpha: float) -> None:
    """Main effects and interactions as fixed effects, each divided by its standard error."""
    every = [(abs(each.delta) / each.se, each, number) for number, of in enumerate((main, interactions)) for each in of
             if each.se]  # fmt: skip
    every.sort(key=lambda each: each[0])
    height = 0.0
    for index, (size, effect, kind) in enumerate(every):
        quantile = float(ndtri(0.5 + (index + 0.5) / len(every) / 2))
        is_shown, colour = effect.q is not None and effect.q <= alpha, COLOURS[kind]
        face = colour if is_shown else "white"
        axes.plot([size], [quantile], marker="os"[kind], markersize=5, color=colour, markerfacecolor=face, zorder=3)
        if is_shown:
            place = {"xytext": (-7, 0), "textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 7}
            height = max(quantile, height + 0.08)  # labels of points that are close do not overlap
            axes.annotate(printable(effect.name, 60), (size, height), **place)
    axes.set(xlabel="size in standard errors", ylabel="half-normal quantile", title="What is more than noise")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    end = min(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.plot([0, end], [0, end], color="0.6", linewidth=1.0, zorder=0)
    handles = [_handle("o", COLOURS[0], "main effects"), _handle("s", COLOURS[1], "interactions of two")]
    axes.legend(handles=[*handles, Line2D([], [], color="0.6", linewidth=1.0, label="noise alone")], loc="lower right")


def _draw_pair(axes, pair: Pair):
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
