"""The figure of strength against loss: the published correspondence and the ladders rated here."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ablations.published_results import EloPoint
from gonn_core.errors import printable
from reports.figures.marks import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.play.ladder import Ladder, elo_text, uncertainty
from reports.play.players import engine_text
from reports.play.rating import NORMAL_95


def elo_picture(points: Sequence[EloPoint], ladders: Sequence[Ladder]) -> dict[str, bytes]:
    """PNG and SVG. All curves are at 0 Elo where their loss is the weakest that all of them have; one that lacks it is
    at 0 with its own weakest net, and its name says so. Each names the games that its losses were measured on."""
    published = sorted(points, key=lambda point: point.nats) if len(points) >= 3 else []
    curves = [[point.nats for point in published], *([_rungs(ladder)[1][-1]] for ladder in ladders)]
    loss = min(max(losses) for losses in curves if losses)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(0.0, color="0.8", linewidth=0.9, zorder=0)
        axes.axvline(loss, color="0.8", linewidth=0.9, zorder=0)
        if published:
            _published(axes, published, loss)
        for number, ladder in enumerate(ladders, 1):
            _rated(axes, ladder, loss, COLOURS[number % len(COLOURS)])
        axes.margins(x=0.08, y=0.1)
        axes.invert_xaxis()
        axes.set(
            xlabel="test nats on the games named (better to the right); in per cent: test top-1",
            ylabel=f"Elo above a net of {loss:.2f} test nats",
        )
        nats_axis(axes.yaxis)
        figure.legend(loc="outside lower left", alignment="left")  # beside the curves there is room by chance only

    return figure_bytes("elo", (WIDTH, 4.6), paint)


def _rungs(ladder: Ladder) -> tuple[list[int], list[float]]:
    """Numbers of the rungs of a ladder's curve, and their losses, the least first."""
    numbers = sorted(ladder.curve(), key=lambda number: ladder.file.rungs[number].nats)
    return numbers, [ladder.file.rungs[number].nats for number in numbers]


def above(ladder: Ladder, loss: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Of all players of a ladder Elo above its curve at that loss, along straight lines, and half of the 95 % interval;
    None where the curve lacks that loss. Of players that no games link to it the numbers mean nothing."""
    chosen, losses = _rungs(ladder)
    if not losses[0] <= loss <= losses[-1]:
        return None
    weights = np.zeros(len(ladder.tally.ids))
    weights[chosen] = [np.interp(loss, losses, row) for row in np.eye(len(chosen))]
    covariance = ladder.ratings.covariance
    variance = np.diag(covariance) + weights @ covariance @ weights - 2 * covariance @ weights
    return ladder.ratings.elo - weights @ ladder.ratings.elo, NORMAL_95 * np.sqrt(np.maximum(variance, 0.0))


def _published(axes, points: Sequence[EloPoint], loss: float) -> None:
    losses, elos = np.array([point.nats for point in points]), np.array([float(point.elo) for point in points])
    margin, here = uncertainty(losses, elos), losses[0] <= loss <= losses[-1]
    elos -= float(np.interp(loss, losses, elos)) if here else 0.0
    label = f"± {margin:.0f} Elo: what straight lines between its points miss"
    axes.fill_between(losses, elos - margin, elos + margin, color=COLOURS[0], alpha=0.15, linewidth=0, label=label)
    label = "published, GoGoD games" + ("" if here else ", at 0 with its own weakest net")
    axes.plot(losses, elos, marker="o", markersize=4.5, linewidth=1.6, color=COLOURS[0], label=label)
    for point, elo in zip(points, elos, strict=True):
        _top1(axes, point.nats, elo, point.top1, COLOURS[0], (-17, 8))


def _rated(axes, ladder: Ladder, loss: float, colour: str) -> None:
    chosen, losses = _rungs(ladder)
    aligned = above(ladder, loss)
    half_widths = [ladder.ratings.half_width(number) for number in range(len(ladder.tally.ids))]
    elo, half = (ladder.ratings.elo, np.array(half_widths)) if aligned is None else aligned
    kind = "95 %" if aligned is not None else "95 % against its weakest net, which is at 0"
    label = printable(f"rated here: {ladder.title} ({kind})", 90)
    style = {"marker": "s", "markersize": 4.5, "linewidth": 1.6, "capsize": 3}
    axes.errorbar(losses, elo[chosen], half[chosen], color=colour, label=label, **style)
    for number in chosen:
        rung = ladder.file.rungs[number]
        _top1(axes, rung.nats, elo[number], rung.top1, colour, (14, -9))
    engine = ladder.engine()
    if engine is not None and ladder.linked(engine):
        strength = f"{elo_text(elo[engine])} ± {half[engine]:.0f}"
        name = engine_text(ladder.tally.identities[ladder.tally.ids[engine]])
        label = printable(f"{name}: {strength}, by its games with the nets of this colour", 90)
        axes.hlines(elo[engine], losses[0], losses[-1], linestyle="--", linewidth=1.2, color=colour, label=label)


def _top1(axes, nats: float, elo: float, top1: float, colour: str, offset: tuple[int, int]) -> None:
    style = {"textcoords": "offset points", "fontsize": 8, "ha": "center", "va": "center", "color": colour}
    axes.annotate(f"{100 * top1:.0f} %", (nats, elo), xytext=offset, **style)
