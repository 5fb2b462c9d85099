"""How effects look: a shape, a filling and a colour for each verdict, told apart without colours too; and rows of a
linear axis whose far effects are written at its edge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from reports.figures.reach import Reach
from reports.figures.style import COLOURS
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.tables import formats


@dataclass(frozen=True)
class Mark:
    """One verdict's."""

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
CLAIM = COLOURS[3]
"""Colour of what documents claim."""


def draw_effect(
    axes, row: float, value: float, ends: Interval | None, mark: Mark, within: Reach, text: str | None = None
) -> bool:
    """One effect on its row. What is off the axis is an arrow at its edge, with the numbers beside it (`text`, else
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


def handles(verdicts: Iterable[EffectVerdict], off: bool) -> list[Line2D]:
    """Of a legend: the verdicts that occur, in their order; that an arrow is off the axis, where there is one."""
    present = set(verdicts)
    found = [
        Line2D([], [], linewidth=1.8, label=f"{verdict}, 95 % interval", **mark.style())
        for verdict, mark in MARKS.items()
        if verdict in present
    ]
    if off:
        beyond = "beyond the axis (an effect there: its numbers)"
        found.append(Line2D([], [], label=beyond, marker="<", linestyle="none", color="0.25", markersize=6))
    return found


def legend(figure, entries: Sequence[Artist]) -> None:
    """Below a figure of WIDTH, in two columns where their words have room beside each other."""
    half = (len(entries) + 1) // 2
    lengths = [len(str(entry.get_label())) for entry in entries]
    widest = max(lengths[:half], default=0) + max(lengths[half:], default=0)
    figure.legend(handles=entries, loc="outside lower left", ncols=2 if widest <= LETTERS else 1, alignment="left")
