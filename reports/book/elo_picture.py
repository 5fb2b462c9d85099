"""The figure of strength against loss: the published correspondence and the ladders rated here."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from ablations.published_results import EloPoint
from gonn_core.errors import printable
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.play.correspondence import uncertainty
from reports.play.ladder import Ladder
from reports.play.players import engine_text


class _Place(NamedTuple):
    """Where a point's name stands beside it."""

    offset: tuple[int, int]
    side: str


_ABOVE, _BELOW = _Place((-4, 6), "right"), _Place((5, -10), "left")


def elo_picture(points: Sequence[EloPoint], ladders: Sequence[Ladder]) -> dict[str, bytes]:
    """PNG and SVG. Every curve is relative to its own weakest net; each names the games that its losses were measured
    on."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        if len(points) >= 3:
            _published(axes, points)
        for number, ladder in enumerate(ladders, 1):
            _rated(axes, ladder, COLOURS[number % len(COLOURS)], _ABOVE if number % 2 else _BELOW)
        axes.margins(x=0.08, y=0.1)
        axes.invert_xaxis()
        axes.set(
            xlabel="test nats on the games named (better to the right); in per cent: test top-1",
            ylabel="Elo above the curve's weakest net",
        )
        figure.legend(loc="outside lower left", alignment="left")  # beside the curves there is room by chance only

    return figure_bytes("elo", (WIDTH, 4.4), paint)


def _published(axes, points: Sequence[EloPoint]) -> None:
    ordered = sorted(points, key=lambda point: point.nats)
    losses, elos, margin = [point.nats for point in ordered], [point.elo for point in ordered], uncertainty(points)
    axes.fill_between(
        losses,
        [elo - margin for elo in elos],
        [elo + margin for elo in elos],
        color=COLOURS[0],
        alpha=0.15,
        linewidth=0,
        label="± its uncertainty",
    )
    axes.plot(losses, elos, marker="o", markersize=4.5, linewidth=1.6, color=COLOURS[0], label="published, GoGoD")
    _name_points(axes, [(point.nats, point.elo, point.top1) for point in ordered], COLOURS[0], _BELOW)


def _rated(axes, ladder: Ladder, colour: str, place: _Place) -> None:
    chosen = sorted(ladder.curve(), key=lambda number: ladder.file.rungs[number].nats)
    losses, elos = (
        [ladder.file.rungs[number].nats for number in chosen],
        [float(ladder.ratings.elo[number]) for number in chosen],
    )
    halves = [ladder.ratings.half_width(number) for number in chosen]
    label = printable(f"rated here: {ladder.file.title} (95 % against its weakest)", 80)
    axes.errorbar(losses, elos, halves, marker="s", markersize=4.5, linewidth=1.6, capsize=3, color=colour, label=label)
    _name_points(
        axes,
        [
            (ladder.file.rungs[number].nats, elo, ladder.file.rungs[number].top1)
            for number, elo in zip(chosen, elos, strict=True)
        ],
        colour,
        place,
    )
    engine = ladder.file.link.player if ladder.file.link else None
    for number, player in enumerate(ladder.tally.ids):
        if (
            ladder.tally.identities[player] == engine
            and ladder.ratings.component[number] == ladder.ratings.component[0]
        ):
            label = printable(f"{engine_text(engine)}, on that curve's scale", 70)
            axes.hlines(
                float(ladder.ratings.elo[number]),
                losses[0],
                losses[-1],
                linestyle="--",
                linewidth=1.2,
                color=colour,
                label=label,
            )


def _name_points(axes, named: Sequence[tuple[float, float, float]], colour: str, place: _Place) -> None:
    """Top-1 at each point, in its curve's colour, with a white edge that keeps it apart from lines."""
    for nats, elo, top1 in named:
        text = axes.annotate(
            f"{100 * top1:.0f} %",
            (nats, elo),
            xytext=place.offset,
            textcoords="offset points",
            fontsize=8,
            ha=place.side,
            color=colour,
        )
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
