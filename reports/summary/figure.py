"""The forest of a page as PNG and SVG: one row per enhancement, grouped by base, on each the effects by size."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from reports.cache import Picture
from reports.figures.marks import draw_forest, legend
from reports.figures.style import WIDTH, figure_bytes
from reports.page import ForestRow, forest_groups


def forest(rows: Sequence[ForestRow], name: str, title: str) -> Picture | None:
    """The picture of these effects; None without any."""

    def paint(figure: Figure) -> None:
        legend(figure, draw_forest(figure.subplots(), rows, "test"))

    size = WIDTH, 1.5 + 0.25 * len(forest_groups(rows))
    return Picture(name, title, lambda: figure_bytes(name, size, paint), tuple(rows)) if rows else None
