"""The forest of a page as PNG and SVG: one row per enhancement, grouped by base, on each the effects by size."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from gonn_core.errors import printable
from reports.cache import Picture
from reports.figures.axes import nats_axis
from reports.figures.marks import CLAIM, MARKS, draw_effect, handles, legend
from reports.figures.reach import reach
from reports.figures.style import WIDTH, figure_bytes
from reports.page import ForestRow, forest_groups

_BAND = "an effect within it would probably not have been shown"


def forest(rows: Sequence[ForestRow], name: str, title: str) -> Picture | None:
    """The picture of these effects; None without any."""
    return Picture(name, title, lambda: draw_forest(rows, name), tuple(rows)) if rows else None


def draw_forest(rows: Sequence[ForestRow], name: str) -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg`. Diamonds: what the documents claim. Effects that are far beyond all others are
    written at the edge of the linear axis."""
    lines = forest_groups(rows)
    return figure_bytes(name, (WIDTH, 1.5 + 0.25 * len(lines)), lambda figure: _paint(figure, lines))


def name_rows(axes, names: Sequence[str], headings: Sequence[bool]) -> None:
    """Names of rows left of an axis, those of headings in bold."""
    axes.set_yticks(range(len(names)), [printable(name, 60) for name in names])
    for label, bold in zip(axes.get_yticklabels(), headings, strict=True):
        label.set_fontweight("bold" if bold else "normal")
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _paint(figure: Figure, lines: Sequence[ForestRow | str]) -> None:
    axes = figure.subplots()
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    rows = [(place, row) for place, row in enumerate(lines) if not isinstance(row, str)]
    ends = [end for _, row in rows for low, high, _ in row.claims for end in (low, high)]
    within = reach([(row.delta, row.ends) for _, row in rows], ends)
    axes.set_xlim(within.low, within.high)
    axes.xaxis.set_major_locator(MaxNLocator(8))
    nats_axis(axes.xaxis)
    off, claimed = False, set()
    for place, row in rows:
        if row.could_show is not None:
            axes.barh(place, 2 * row.could_show, left=-row.could_show, height=0.72, color="0.93", zorder=0)
        off |= draw_effect(axes, place, row.delta, row.ends, MARKS[row.verdict], within)
        for low, high, tested in row.claims:
            axes.plot([low, high], [place + 0.27] * 2, color=CLAIM, linewidth=1.2)
            axes.plot([(low + high) / 2], [place + 0.27], **_diamond(tested))
            claimed.add(tested)
    names = [line if isinstance(line, str) else line.label for line in lines]
    name_rows(axes, names, [isinstance(line, str) for line in lines])
    axes.set_xlabel("Δ test nats, with − without (left of 0: helps)")
    keys = [*handles([row.verdict for _, row in rows], off), Line2D([], [], color="0.88", linewidth=8, label=_BAND)]
    labels = {True: "claimed, under these conditions", False: "claimed, under other conditions"}
    keys += [Line2D([], [], linestyle="none", **_diamond(tested), label=labels[tested]) for tested in sorted(claimed)]
    legend(figure, keys)


def _diamond(filled: bool) -> dict:
    return {"marker": "D", "markersize": 4.5, "color": CLAIM, "markerfacecolor": CLAIM if filled else "white"}
