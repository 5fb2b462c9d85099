"""An interval as a small picture in a cell of a table."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

_HALF = 60
"""Pixels of a bar on each side of zero."""
_ROOM = 6
_HEIGHT = 14
_FAR = 3.0
"""Times the median size that the scale holds: one large effect does not press all others into a point."""


def scale(ends: Iterable[Sequence[float]]) -> float:
    """Nats at the edges of the bars of one table: the farthest end, but no more than _FAR times the median of these."""
    sizes = sorted(max(map(abs, each)) for each in ends)
    if not sizes:
        return 1.0
    return min(sizes[-1], _FAR * sizes[len(sizes) // 2]) or 1.0


def bar(delta: float, ends: Sequence[float], edge: float) -> Markup:
    """Zero line, interval and point; an arrow where the interval goes on beyond the edge. Drawn for the eye alone: the
    numbers stand beside it."""
    low, high = ends if len(ends) == 2 else (delta, delta)
    left, right, middle = _place(low, edge), _place(high, edge), _HALF
    parts = [f'<line class="zero" x1="{middle}" x2="{middle}" y1="0" y2="{_HEIGHT}"/>']
    parts.append(f'<line class="range" x1="{left:.1f}" x2="{right:.1f}" y1="7" y2="7"/>')
    if low < -edge:
        parts.append('<path class="beyond" d="M0 7 7 3V11Z"/>')
    if high > edge:
        parts.append(f'<path class="beyond" d="M{2 * _HALF} 7 {2 * _HALF - 7} 3V11Z"/>')
    if abs(delta) <= edge:
        parts.append(f'<circle class="point" cx="{_place(delta, edge):.1f}" cy="7" r="3.5"/>')
    size = f'viewBox="0 0 {2 * _HALF} {_HEIGHT}" width="{2 * _HALF}" height="{_HEIGHT}"'
    return Markup(f'<svg class="bar" {size} aria-hidden="true">{"".join(parts)}</svg>')


def _place(value: float, edge: float) -> float:
    return _HALF + (_HALF - _ROOM) * max(-1.0, min(1.0, value / edge))
