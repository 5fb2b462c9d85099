"""How every figure looks, and its files.

The same figure gives the same bytes: no dates, no user settings of matplotlib, a fixed salt for the identifiers of the
SVG.
"""

import io
from collections.abc import Callable
from typing import Any

import matplotlib
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
"""Okabe and Ito's palette, told apart with any kind of colour vision; its yellow, too pale for a line, replaced."""
DASHES = ("-", "--", ":", "-.")
WIDTH = 7.0  # inches: at 100 pixels an inch the 700 pixels of a page
DPI = 200
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
    name: str, size: tuple[float, float], paint: Callable[[Figure], None], dpi: int = DPI, salt: str | None = None
) -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg` of a figure of `size` inches that `paint` fills, whatever the user's settings of
    matplotlib are. `salt`: of the SVG's identifiers, the name unless given."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings: Any = _STYLE | {"svg.hashsalt": salt or name}
        matplotlib.rcParams.update(settings)
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        return {
            f"{name}.png": _bytes(figure, "png", dpi, {"Software": None}),
            f"{name}.svg": _bytes(figure, "svg", dpi, {"Date": None, "Creator": None}),
        }


def _bytes(figure: Figure, kind: str, dpi: int, metadata: dict) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
