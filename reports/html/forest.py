"""A forest plot as inline SVG: one row per effect; far effects are an arrow with their numbers at the edge."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from gonn_core.errors import printable
from reports.figures.reach import Reach, reach
from reports.page import ForestRow, forest_groups
from reports.tables import formats

_WIDTH, _LABELS, _ROOM = 1000, 250, 24
_ROW, _HEAD, _FOOT = 22, 12, 44
_TICKS = 7


def forest_svg(rows: Sequence[ForestRow]) -> Markup:
    """The picture; empty without rows."""
    if not rows:
        return Markup("")
    lines = forest_groups(rows)
    ends = [end for row in rows for low, high, _ in row.claims for end in (low, high)]
    axis = reach([(row.delta, row.ends) for row in rows], ends)
    bottom = _HEAD + _ROW * len(lines)
    parts = [_axis(axis, bottom)]
    for place, line in enumerate(lines):
        middle = _HEAD + _ROW * place + _ROW // 2
        if isinstance(line, str):
            parts.append(f'<text class="group" x="0" y="{middle + 4}">{escape(printable(line, 80))}</text>')
        else:
            parts.append(_effect(line, middle, axis))
    size = f'viewBox="0 0 {_WIDTH} {bottom + _FOOT}"'
    return Markup(
        f'<svg class="forest" role="img" aria-label="Effects with their intervals" {size}>{"".join(parts)}</svg>'
    )


def _x(value: float, axis: Reach) -> float:
    """Place of a value; values outside are at the edge."""
    share = (min(max(value, axis.low), axis.high) - axis.low) / (axis.high - axis.low)
    return round(_LABELS + share * (_WIDTH - _LABELS - _ROOM), 1)


def _axis(axis: Reach, bottom: int) -> str:
    step = _step(axis)
    ticks = [step * number for number in range(int(axis.low / step) - 1, int(axis.high / step) + 2)]
    parts = []
    for tick in (tick for tick in ticks if axis.holds(tick)):
        x, kind = _x(tick, axis), "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_HEAD}" y2="{bottom}"/>')
        text = formats.minus(f"{tick:.6g}")
        parts.append(f'<text class="tick" x="{x}" y="{bottom + 16}">{text}</text>')
    middle = (_LABELS + _WIDTH - _ROOM) / 2
    parts.append(
        f'<text class="tick" x="{middle}" y="{bottom + 36}">Δ test nats, with − without (left of 0: helps)</text>'
    )
    return "".join(parts)


def _step(axis: Reach) -> float:
    """A round distance between ticks."""
    raw = (axis.high - axis.low) / _TICKS
    size = 1.0
    while size > raw:
        size /= 10
    while size * 10 <= raw:
        size *= 10
    return next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw)


def _effect(row: ForestRow, middle: int, axis: Reach) -> str:
    """The row: name, band of what could be shown, claims, interval and point, with a tooltip."""
    parts = [f"<title>{escape(printable(row.tip or row.label, 600))}</title>"]
    parts.append(f'<rect class="row" x="0" y="{middle - _ROW // 2}" width="{_WIDTH}" height="{_ROW}"/>')
    parts.append(f'<text class="label" x="8" y="{middle + 4}">{escape(printable(row.label, 40))}</text>')
    if row.could_show is not None:
        left, right = _x(-row.could_show, axis), _x(row.could_show, axis)
        parts.append(f'<rect class="band" x="{left}" y="{middle - 8}" width="{round(right - left, 1)}" height="16"/>')
    for low, high, tested in row.claims:
        x = _x((low + high) / 2, axis)
        kind = "claim" if tested else "claim other"
        parts.append(
            f'<line class="{kind}" x1="{_x(low, axis)}" x2="{_x(high, axis)}" y1="{middle + 7}" y2="{middle + 7}"/>'
        )
        parts.append(f'<path class="{kind}" d="M{x} {middle + 3}l4 4-4 4-4-4z"/>')
    if row.ends is not None and (axis.holds(row.ends.low) or axis.holds(row.ends.high) or axis.holds(row.delta)):
        left, right = _x(row.ends.low, axis), _x(row.ends.high, axis)
        parts.append(f'<line class="range" x1="{left}" x2="{right}" y1="{middle}" y2="{middle}"/>')
        if not axis.holds(row.ends.low):
            parts.append(f'<path class="point" d="M{left} {middle}l7 -4v8z"/>')
        if not axis.holds(row.ends.high):
            parts.append(f'<path class="point" d="M{right} {middle}l-7 -4v8z"/>')
    x = _x(row.delta, axis)
    if axis.holds(row.delta):
        parts.append(f'<circle class="point" cx="{x}" cy="{middle}" r="4.5"/>')
    else:
        left = row.delta < axis.low
        sign, anchor = (1, "start") if left else (-1, "end")
        parts.append(f'<path class="point" d="M{x} {middle}l{9 * sign} -5v10z"/>')
        text = formats.with_interval(row.delta, row.ends)
        parts.append(f'<text class="far" text-anchor="{anchor}" x="{x + 14 * sign}" y="{middle + 4}">{text}</text>')
    return f'<g class="effect {row.verdict.tone}">{"".join(parts)}</g>'
