"""Where the axis of a forest plot ends: far effects leave it, so that the others stay apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.stats.estimates import Interval

FAR = 3.0
"""An effect is far beyond this many times the size of three quarters of the effects."""


@dataclass(frozen=True)
class Reach:
    """The ends of a linear axis of effects; what lies outside is written at the edge."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value has a place on the axis."""
        return self.low <= value <= self.high


def reach(
    effects: Sequence[tuple[float, Interval | None]],
    further: Iterable[float] = (),
    centre: float = 0.0,
    far: float = FAR,
) -> Reach:
    """The axis on which effects, with their intervals, stand apart: around all of them unless some are `far`, then
    around the others. further: what else is drawn, which makes room for itself only within that."""
    sizes = sorted(abs(value - centre) for value, _ in effects)
    limit = far * sizes[(3 * len(sizes) - 1) // 4] if sizes else 0.0
    near = [(value, ends) for value, ends in effects if abs(value - centre) <= limit] or list(effects)
    values = [centre, *(value for value, _ in near)]
    most = 2.0 * max((abs(value - centre) for value in values), default=0.0)
    others = [*further, *(end for _, ends in near if ends is not None for end in (ends.low, ends.high))]
    values += [min(max(value, centre - most), centre + most) for value in others]
    room = 0.06 * (max(values) - min(values)) or 0.01
    return Reach(min(values) - room, max(values) + room)
