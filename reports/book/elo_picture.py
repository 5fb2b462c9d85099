"""The figure of strength against loss: the published correspondence and the ladders rated here."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from ablations.published_results import EloPoint
from gonn_core.errors import printable
from reports.figures.axes import nats_axis
from reports.figures.labels import Word, place_words
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.play.correspondence import uncertainty
from reports.play.ladder import Ladder, Rung
from reports.play.players import engine_text
from reports.play.rating import NORMAL_95
from reports.tables import formats


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
