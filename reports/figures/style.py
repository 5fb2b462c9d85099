"""How every figure looks, where its axis of effects ends, and its files. Imports matplotlib only where one is drawn.

The same figure gives the same bytes: no dates, no user settings of matplotlib, a fixed salt for the identifiers of the
SVG.
"""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.stats.estimates import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
"""Okabe and Ito's palette, distinct with any kind of colour vision; its yellow, too pale for a line, replaced."""
DASHES = ("-", "--", ":", "-.")
WIDTH = 7.0  # inches: at 100 pixels an inch the 700 pixels of a page
DPI = 150
FAR = 3.0
"""An effect is far beyond this many times the size of three quarters of the effects."""
_STYLE: dict[str, Any] = {
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # a $ in a name is a $
    "legend.frameon": False,
}


def figure_bytes(
    name: str, size: tuple[float, float], paint: "Callable[[Figure], None]", dpi: int = DPI, salt: str | None = None
) -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg` of a figure of `size` inches that `paint` fills, whatever the user's settings of
    matplotlib are. `salt`: of the SVG's identifiers, the name unless given."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings: Any = _STYLE | {"svg.hashsalt": salt or name}
        matplotlib.rcParams.update(settings)
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        files = {}
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
            files[f"{name}.{kind}"] = buffer.getvalue()
            figure.set_layout_engine("none")  # laid out once: it takes half of the SVG's time
        return files


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
