"""The figure of strength against loss: the published correspondence and the ladders rated here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from ablations.published_results import EloPoint
from gonn_core.errors import printable
from reports.figures.marks import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.play.correspondence import uncertainty
from reports.play.ladder import Ladder, Rung
from reports.play.players import engine_text
from reports.play.rating import NORMAL_95
from reports.tables import formats

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


class _Drawn(NamedTuple):
    """What words keep off: a curve with its intervals, and the words at its points (top-1)."""

    lines: list[tuple[Sequence[float], Sequence[float]]]
    words: list[Word]


def elo_picture(points: Sequence[EloPoint], ladders: Sequence[Ladder]) -> dict[str, bytes]:
    """PNG and SVG. All curves are at 0 Elo where their loss is the weakest that all of them have; one that lacks it is
    at 0 with its own weakest net, and its name says so. Each names the games that its losses were measured on."""
    published = sorted(points, key=lambda point: point.nats) if len(points) >= 3 else []
    loss = common_loss(
        [[point.nats for point in published], *([rung.nats for rung in _rungs(each)] for each in ladders)]
    )

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(0.0, color="0.8", linewidth=0.9, zorder=0)
        axes.axvline(loss, color="0.8", linewidth=0.9, zorder=0)
        drawn = [_published(axes, published, loss)] if published else []
        drawn += [
            _rated(axes, ladder, loss, COLOURS[number % len(COLOURS)]) for number, ladder in enumerate(ladders, 1)
        ]
        axes.margins(x=0.08, y=0.1)
        axes.invert_xaxis()
        axes.set(
            xlabel="test nats on the games named (better to the right); in per cent: test top-1",
            ylabel=f"Elo above a net of {loss:.2f} test nats",
        )
        nats_axis(axes.yaxis)
        figure.legend(loc="outside lower left", alignment="left")  # beside the curves there is room by chance only
        place_words(
            axes, [word for each in drawn for word in each.words], [line for each in drawn for line in each.lines]
        )

    return figure_bytes("elo", (WIDTH, 4.6), paint)


def common_loss(curves: Sequence[Sequence[float]]) -> float:
    """Of curves, each by its losses, the weakest loss that they share: the least of their greatest. Empty ones do not
    count."""
    return min(max(losses) for losses in curves if losses)


def above(ladder: Ladder, loss: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Of all players of a ladder Elo above its curve at that loss, along straight lines, and half of the 95 % interval;
    None where the curve lacks that loss. Of players that no games link to it the numbers mean nothing."""
    chosen = sorted(ladder.curve(), key=lambda number: ladder.file.rungs[number].nats)
    losses = [ladder.file.rungs[number].nats for number in chosen]
    if not losses[0] <= loss <= losses[-1]:
        return None
    weights = np.zeros(len(ladder.tally.ids))
    for place, number in enumerate(chosen):
        weights[number] = np.interp(loss, losses, np.eye(len(chosen))[place])
    covariance = ladder.ratings.covariance
    variance = np.diag(covariance) + weights @ covariance @ weights - 2 * covariance @ weights
    return ladder.ratings.elo - weights @ ladder.ratings.elo, NORMAL_95 * np.sqrt(np.maximum(variance, 0.0))


def _rungs(ladder: Ladder) -> list[Rung]:
    return [ladder.file.rungs[number] for number in ladder.curve()]


def _published(axes, points: Sequence[EloPoint], loss: float) -> _Drawn:
    losses, margin = [point.nats for point in points], uncertainty(points)
    here = losses[0] <= loss <= losses[-1]
    zero = float(np.interp(loss, losses, [point.elo for point in points])) if here else 0.0
    elos = [point.elo - zero for point in points]
    axes.fill_between(
        losses,
        [elo - margin for elo in elos],
        [elo + margin for elo in elos],
        color=COLOURS[0],
        alpha=0.15,
        linewidth=0,
        label=f"± {margin:.0f} Elo: what straight lines between its points miss",
    )
    label = "published, GoGoD games" + ("" if here else ", at 0 with its own weakest net")
    axes.plot(losses, elos, marker="o", markersize=4.5, linewidth=1.6, color=COLOURS[0], label=label)
    return _Drawn(
        [(losses, elos)],
        [
            Word(point.nats, elo, f"{100 * point.top1:.0f} %", COLOURS[0])
            for point, elo in zip(points, elos, strict=True)
        ],
    )


def _rated(axes, ladder: Ladder, loss: float, colour: str) -> _Drawn:
    chosen = sorted(ladder.curve(), key=lambda number: ladder.file.rungs[number].nats)
    rungs = [ladder.file.rungs[number] for number in chosen]
    losses, aligned = [rung.nats for rung in rungs], above(ladder, loss)
    if aligned is None:
        everyone = range(len(ladder.tally.ids))
        elo, half = ladder.ratings.elo, np.array([ladder.ratings.half_width(number) for number in everyone])
    else:
        elo, half = aligned
    kind = "95 %" if aligned is not None else "95 % against its weakest net, which is at 0"
    label = printable(f"rated here: {ladder.title} ({kind})", 90)
    elos = [float(elo[number]) for number in chosen]
    halves = [float(half[number]) for number in chosen]
    axes.errorbar(losses, elos, halves, marker="s", markersize=4.5, linewidth=1.6, capsize=3, color=colour, label=label)
    drawn = _Drawn(
        [(losses, elos)],
        [_top1(rung.nats, value, rung.top1, colour) for rung, value in zip(rungs, elos, strict=True)],
    )
    for x, value, one in zip(losses, elos, halves, strict=True):
        drawn.lines.append(([x, x], [value - one, value + one]))
    engine = ladder.file.link.player if ladder.file.link else None
    for number, player in enumerate(ladder.tally.ids):
        linked = ladder.ratings.component[number] == ladder.ratings.component[0]
        if linked and ladder.tally.identities[player] == engine:
            strength = f"{formats.minus(f'{elo[number]:.0f}')} ± {half[number]:.0f}"
            label = printable(f"{engine_text(engine)}: {strength}, by its games with the nets of this colour", 90)
            ends = losses[0], losses[-1]
            axes.hlines(float(elo[number]), *ends, linestyle="--", linewidth=1.2, color=colour, label=label)
            drawn.lines.append((ends, [float(elo[number])] * 2))
    return drawn


def _top1(nats: float, elo: float, top1: float, colour: str) -> Word:
    return Word(nats, elo, f"{100 * top1:.0f} %", colour)
