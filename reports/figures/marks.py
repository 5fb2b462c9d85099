"""How effects and claims look: a shape, a filling and a colour for each verdict, distinct without colours too; rows
of a linear axis whose far effects are written at its edge."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding
from reports.figures.style import COLOURS, Reach, reach
from reports.page import ForestRow, forest_groups
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.tables import formats


@dataclass(frozen=True)
class Mark:
    """The mark of one verdict."""

    colour: str
    shape: str
    filled: bool
    half: bool = False
    """Whether it is filled on its left alone."""

    def style(self, size: float = 5.5) -> dict:
        """Arguments of `plot` for a marker alone."""
        face = {"markerfacecolor": self.colour if self.filled or self.half else "white", "markerfacecoloralt": "white"}
        half = {"fillstyle": "left"} if self.half else {}
        return {"color": self.colour, "marker": self.shape, "markersize": size, **face, **half}


MARKS: Mapping[EffectVerdict, Mark] = {
    EffectVerdict.HELPS: Mark(COLOURS[0], "o", True),
    EffectVerdict.HURTS: Mark(COLOURS[1], "s", True),
    EffectVerdict.LEANS_HELPING: Mark(COLOURS[0], "o", False, half=True),
    EffectVerdict.LEANS_HURTING: Mark(COLOURS[1], "s", False, half=True),
    EffectVerdict.NOT_SHOWN: Mark("0.45", "o", False),
    **dict.fromkeys([verdict for verdict in EffectVerdict if verdict.tone == "open"], Mark("0.6", "^", False)),
}
LETTERS = 92
"""Of a legend's two columns together."""
CLAIMED = {
    True: ("claimed, under these conditions", Mark(COLOURS[3], "D", True)),
    False: ("claimed, under other conditions", Mark(COLOURS[3], "D", False)),
}
"""Whether a claim was tested under its own conditions -> its words in a legend, and its mark."""
_BAND = "an effect within it would probably not have been shown"


def nats_axis(axis) -> None:
    """A proper minus on an axis of nats."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: formats.minus(f"{value:.4g}")))


def draw_range(axes, mark: Mark, value: float, low: float, high: float, at: float, upright=False, size=5.5) -> None:
    """A value with its ends at a place of the other axis: on a row, or `upright` above a place."""
    points = ([low, high], [at, at]), ([value], [at])
    for number, (values, places) in enumerate(points):
        style = mark.style(size) | {"zorder": 3} if number else {"color": mark.colour, "linewidth": 1.4}
        axes.plot(*((places, values) if upright else (values, places)), **style)


def draw_effect(
    axes, row: float, value: float, ends: Interval | None, mark: Mark, within: Reach, text: str | None = None
) -> bool:
    """One effect on its row. What is off the axis is an arrow at its edge, with its numbers (`text`, else
    those of a difference in nats). Returns whether it is."""
    if not within.holds(value):
        left = value < within.low
        inside = 0.02 * (within.high - within.low)
        edge, shift = (within.low + inside, 8) if left else (within.high - inside, -8)
        axes.plot([edge], [row], **mark.style(7) | {"marker": "<" if left else ">"}, zorder=3, clip_on=False)
        axes.annotate(
            text or formats.with_interval(value, ends),
            (edge, row),
            xytext=(shift, 0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="center",
            fontsize=8,
            color="0.25",
            bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "alpha": 0.85, "linewidth": 0},
        )
        return True
    off = False
    if ends is not None:
        low, high = max(ends.low, within.low), min(ends.high, within.high)
        axes.plot([low, high], [row, row], color=mark.colour, linewidth=1.8, solid_capstyle="butt")
        for end, edge, shape in ((ends.low, within.low, "<"), (ends.high, within.high, ">")):
            if not within.holds(end):
                off = True
                axes.plot([edge], [row], marker=shape, markersize=5, color=mark.colour, clip_on=False)
    axes.plot([value], [row], **mark.style(), zorder=3)
    return off


def draw_forest(axes, rows: Sequence[ForestRow], split: str) -> list[Line2D]:
    """One row per effect, by group, the one that helps most first, on a linear axis; diamonds are what documents claim.
    Returns the entries of the legend. split: the games that the effects are measured on."""
    lines = forest_groups(rows)
    ends = [end for row in rows for low, high, _ in row.claims for end in (low, high)]
    costs = any(row.cost for row in rows)
    within = effects_axis(axes, [(row.delta, row.ends) for row in rows], ends, ticks=5 if costs else 8)
    off, claimed = False, set()
    for place, row in enumerate(lines):
        if isinstance(row, str):
            continue
        if row.could_show is not None:
            axes.barh(place, 2 * row.could_show, left=-row.could_show, height=0.72, color="0.93", zorder=0)
        off |= draw_effect(axes, place, row.delta, row.ends, MARKS[row.verdict], within)
        for low, high, tested in row.claims:
            draw_range(axes, CLAIMED[tested][1], (low + high) / 2, low, high, place + 0.27, size=4.5)
            claimed.add(tested)
    names = [line if isinstance(line, str) else line.label for line in lines]
    name_rows(axes, names, [isinstance(line, str) for line in lines])
    if costs:
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(lines)), ["" if isinstance(line, str) else line.cost for line in lines])
        right.tick_params(axis="y", length=0, labelsize=8)
        right.spines["right"].set_visible(False)
    axes.set_xlabel(f"Δ {split} nats, with − without (left of 0: helps)")
    keys = handles([row.verdict for row in rows], off)
    if any(row.could_show is not None for row in rows):
        keys.append(Line2D([], [], color="0.88", linewidth=8, label=_BAND))
    return keys + [marker_handle(CLAIMED[tested][1], CLAIMED[tested][0]) for tested in sorted(claimed)]


def effects_axis(
    axes, effects: Sequence[tuple[float, Interval | None]], further: Iterable[float] = (), ticks: int = 8
) -> Reach:
    """A horizontal axis of effects in nats with a line at 0."""
    within = reach(effects, further)
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    axes.set_xlim(within.low, within.high)
    axes.xaxis.set_major_locator(MaxNLocator(ticks))
    nats_axis(axes.xaxis)
    return within


def name_rows(axes, names: Sequence[str], headings: Sequence[bool]) -> None:
    """Names of rows left of an axis, those of headings in bold inside, on their empty rows: long ones take no room."""
    shown = [printable(name, 60) for name in names]
    axes.set_yticks(range(len(names)), ["" if bold else name for name, bold in zip(shown, headings, strict=True)])
    for place, bold in enumerate(headings):
        if bold:
            axes.text(0, place, shown[place], transform=axes.get_yaxis_transform(), fontweight="bold", va="center")
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def claim_label(finding: ClaimFinding) -> str:
    """`claimed at 5M samples: −0.04`."""
    assert finding.claim.bounds is not None  # of the others nothing is drawn
    low, high = finding.claim.bounds
    ends = [formats.minus(f"{end:+g}") for end in (low, high) if math.isfinite(end)]
    if len(ends) == 1:
        text = f"{'at most' if math.isinf(low) else 'at least'} {ends[0]}"
    else:
        text = ends[0] if low == high else f"{ends[0]} to {ends[1]}"
    at = f" at {formats.samples(finding.claim.samples)} samples" if finding.claim.samples else ""
    return f"claimed{at}: {text}"


def marker_handle(mark: Mark, label: str) -> Line2D:
    """An entry of a legend: a marker alone."""
    return Line2D([], [], linestyle="none", label=label, **mark.style(6))


def handles(verdicts: Iterable[EffectVerdict], off: bool) -> list[Line2D]:
    """Entries of a legend: the verdicts that occur, in their order; that an arrow is off the axis, where there is
    one."""
    present = set(verdicts)
    entries = [
        Line2D([], [], linewidth=1.8, label=f"{verdict}, 95 % interval", **mark.style())
        for verdict, mark in MARKS.items()
        if verdict in present
    ]
    if off:
        beyond = "beyond the axis (an effect there: its numbers)"
        entries.append(marker_handle(Mark("0.25", "<", True), beyond))
    return entries


def legend(figure, entries: Sequence[Artist]) -> None:
    """Below a figure of WIDTH, in two columns where there is room for two."""
    half = (len(entries) + 1) // 2
    lengths = [len(str(entry.get_label())) for entry in entries]
    widest = max(lengths[:half], default=0) + max(lengths[half:], default=0)
    figure.legend(handles=entries, loc="outside lower left", ncols=2 if widest <= LETTERS else 1, alignment="left")
