"""Figures as they were laid out: their texts, and which of them lie on each other or beyond the edge."""

from collections.abc import Callable, Iterator
from itertools import combinations

from matplotlib.figure import Figure
from matplotlib.text import Text


def painted(monkeypatch, draw: Callable[[], object]) -> Figure:
    """The figure that `draw` makes, after it was written."""
    kept = []

    class Kept(Figure):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            kept.append(self)

    monkeypatch.setattr("matplotlib.figure.Figure", Kept)
    draw()
    assert len(kept) == 1
    return kept[0]


def texts(figure: Figure) -> Iterator[Text]:
    """Those that are shown."""
    gone = _undrawn(figure)
    for each in figure.findobj(Text):
        if each.get_visible() and each.get_text().strip() and id(each) not in gone:
            yield each


def _undrawn(figure: Figure) -> set[int]:
    """Labels of ticks that an axis no longer has, or that are beyond its ends: they are there, but not drawn."""
    gone = set()
    for axes in figure.axes:
        for number, (axis, ends) in enumerate(((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim()))):
            current = {id(label) for label in axis.get_ticklabels(which="both")}
            for label in (label for tick in axis.majorTicks + axis.minorTicks for label in (tick.label1, tick.label2)):
                if id(label) not in current or not min(ends) <= label.get_position()[number] <= max(ends):
                    gone.add(id(label))
    return gone


def clashes(figure: Figure) -> list[str]:
    """Pairs of texts on each other, and texts that the picture's edge cuts."""
    figure.draw_without_rendering()  # places the labels of the ticks
    boxes = [(each.get_text(), each.get_window_extent()) for each in texts(figure)]
    width, height = figure.bbox.width, figure.bbox.height
    found = [text for text, box in boxes if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1]
    for (one, box), (other, beside) in combinations(boxes, 2):
        across = min(box.x1, beside.x1) - max(box.x0, beside.x0)
        up = min(box.y1, beside.y1) - max(box.y0, beside.y0)
        if across > 1 and up > 1:
            found.append(f"{one!r} on {other!r}")
    return found
