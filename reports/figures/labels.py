"""Words at points that lie on nothing: on no line, no other word, no edge."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.transforms import Bbox

_RINGS = (9.0, 14.0, 20.0)
_WAYS = 16
"""Places that are tried: so many points (1/72 inch) away, in so many directions."""
_STEP = 3.0
"""Lines are looked at every so many pixels."""


@dataclass(frozen=True)
class Word:
    """A text at a point in data coordinates."""

    x: float
    y: float
    text: str
    colour: str


def place_words(axes, words: Sequence[Word], lines: Sequence[tuple[Sequence[float], Sequence[float]]], size=8) -> None:
    """Write the words beside their points, each where it covers no line (x and y in data coordinates; intervals are
    lines too) and no other word; one without such a place is left out. The axes' limits are to be final: the figure is
    laid out here, once."""
    figure = axes.figure
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    figure.draw_without_rendering()
    obstacles = np.concatenate([_along(axes.transData.transform(np.column_stack(line))) for line in lines])
    panel = axes.get_window_extent()
    taken: list[Any] = []
    for word in words:
        text = axes.annotate(
            word.text,
            (word.x, word.y),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=size,
            ha="center",
            va="center",
            color=word.colour,
        )
        box = text.get_window_extent()
        places = (place for ring in _RINGS for place in _around(box, ring, figure.dpi))
        spot = next((place for place in places if _free(place[1], obstacles, taken, panel)), None)
        if spot is None:
            text.remove()
            continue
        text.xyann = spot[0]
        taken.append(spot[1])


def _along(corners: np.ndarray) -> np.ndarray:
    """(n, 2) points of a line through its corners, _STEP pixels apart or less."""
    parts = [corners[:1]]
    for start, end in zip(corners[:-1], corners[1:], strict=True):
        steps = max(1, math.ceil(float(np.hypot(*(end - start))) / _STEP))
        parts.append(start + (end - start) * np.linspace(0, 1, steps + 1)[1:, None])
    return np.concatenate(parts)


def _around(box: Bbox, ring: float, dpi: float):
    """Offsets in points, with the box there, so that the nearest side of the text is `ring` minus its own half away."""
    for way in range(_WAYS):
        angle = 2 * math.pi * (way + 0.5) / _WAYS
        pixels = dpi / 72
        across = math.cos(angle) * (ring + box.width / pixels / 2)
        up = math.sin(angle) * (ring + box.height / pixels / 2 - 2)
        yield (across, up), box.translated(across * pixels, up * pixels)


def _free(box: Bbox, obstacles: np.ndarray, taken: Sequence[Bbox], panel: Bbox) -> bool:
    wide = box.padded(1.5)
    inside = (obstacles > (wide.x0, wide.y0)) & (obstacles < (wide.x1, wide.y1))
    return (
        not inside.all(axis=1).any()
        and not any(wide.overlaps(other) for other in taken)
        and panel.x0 <= box.x0
        and box.x1 <= panel.x1
        and panel.y0 <= box.y0
        and box.y1 <= panel.y1
    )
