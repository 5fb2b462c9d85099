"""Channels before global pooling as heat maps on the documents' positions, as the GoNN document shows them (spec: GoNN
7.7, 7.16, 7.17)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ablations.published_inspection import PublishedChannel
from ablations.registry import Registry
from gonn_core.errors import printable
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, EMPTY, SIZE, point, point_name
from reports.cache import Picture, code
from reports.figures.style import WIDTH, figure_bytes
from reports.results.nets import MeasuredNet
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.weights.channels import ChannelMaps, channel_maps

SHOWN = 6
"""Channels of a net that are drawn at most."""
_MARK, _LINE = "#009E73", "0.75"
_COLUMNS = (
    Column("net", "net", "left"),
    Column("position", "position", "left", under="net"),
    Column("published", "published channel", "left"),
    Column("points", "its strongest points", "left", under="published"),
    Column("ours", "nearest of ours", "left"),
    Column("strongest", "its strongest points", "left", under="ours"),
    Column("likeness", "likeness (sd)"),
    Column("untrained", "untrained"),
)


def published_channels(registry: Registry) -> tuple[PublishedChannel, ...]:
    """Those of all documents."""
    return tuple(
        channel for each in registry.published.values() if each.looks is not None for channel in each.looks.channels
    )


def maps_of(nets: Sequence[MeasuredNet], channels: Sequence[PublishedChannel]) -> list[ChannelMaps]:
    """Of the nets that pool channels in their head and whose weights are there."""
    return [maps for net in nets if (maps := channel_maps(net, channels)) is not None]


def channels_table(all_maps: Sequence[ChannelMaps], channels: Sequence[PublishedChannel]) -> Table | None:
    """A row per net and published channel; None without any net."""
    rows = []
    for maps in all_maps:
        title = maps.net.title
        for channel in channels:
            near = maps.nearest(channel)
            place = [each.case.name for each in maps.positions].index(channel.position)
            own = maps.maps[0, place, near.chosen[0]]
            before, best = float(near.best_before.mean()), float(near.best.mean())
            cells = {
                "net": text_cell(title),
                "position": text_cell(channel.position),
                "published": text_cell(f"{channel.channel}: {channel.what}"),
                "points": text_cell(_strongest({point(name): value for name, value in channel.high.items()})),
                "ours": Cell(f"{near.chosen[0]} of {maps.maps.shape[2]}", int(near.chosen[0]), maps.trials[:1]),
                "strongest": text_cell(
                    _strongest(dict(enumerate(own * np.sign(near.likeness[0, near.chosen[0]]))), 5), maps.trials[:1]
                ),
                "likeness": Cell(_with_range(near.best), best, maps.trials),
                "untrained": Cell(formats.minus(f"{before:.1f}"), before),
            }
            rows.append(Row(f"{title} {channel.position}", cells))
    note = (
        "Likeness: the channel's mean at the points where the published one is strongest, less that where it is "
        "weakest (else over the board), in standard deviations over"
        " the board; of each net the channel in which this is largest, its sign aside; means over seeds, in brackets "
        "the seeds' range. Untrained: the same nets before"
        " training, what choosing among as many channels gives by itself. The channel named and drawn is that of the "
        "first seed."
    )
    return Table("channels", "Channels before pooling", _COLUMNS, tuple(rows), (note,)) if rows else None


def _with_range(values: np.ndarray) -> str:
    return f"{values.mean():.1f} [{values.min():.1f}, {values.max():.1f}]" if len(values) > 1 else f"{values[0]:.1f}"


def _strongest(values: dict[int, float], count: int = 5) -> str:
    order = sorted(values, key=lambda place: (-values[place], place))[:count]
    return ", ".join(point_name(place) for place in order)


def channel_pictures(all_maps: Sequence[ChannelMaps], channels: Sequence[PublishedChannel]) -> list[Picture]:
    """A picture a net, of its first seed: a row a channel, a column a position."""
    return [_picture(maps, channels) for maps in all_maps]


def _picture(maps: ChannelMaps, channels: Sequence[PublishedChannel]) -> Picture:
    study = maps.net.study
    name = f"channels-{study.base}-{study.budget_label}-{study.data}"
    marks = {
        (int(near.chosen[0]), channel.position): channel for channel in channels for near in [maps.nearest(channel)]
    }
    shown = _chosen(maps.maps[0], [channel for channel, _ in marks])
    across = len(maps.positions)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(shown), across, squeeze=False)
        for row, channel in zip(panels, shown, strict=True):
            reach = float(np.abs(maps.maps[0, :, channel]).max()) or 1.0
            for place, (axes, each) in enumerate(zip(row, maps.positions, strict=True)):
                _board(axes, maps.maps[0, place, channel].reshape(SIZE, SIZE), each, reach)
                for name in marks[channel, each.case.name].high if (channel, each.case.name) in marks else ():
                    axes.add_patch(
                        Circle(_place(point(name)), 0.5, fill=False, edgecolor=_MARK, linewidth=1.3, zorder=5)
                    )
            row[0].set_ylabel(f"channel {channel}\n±{reach:.2g}")
        for axes, each in zip(panels[0], maps.positions, strict=True):
            colour = "Black" if each.case.position.mover == BLACK else "White"
            axes.set_title(f"{printable(each.case.name, 40)}\n{colour} to play", fontsize=9)

    title = (
        f"Channels just before pooling: {maps.net.name}, {study.budget_label} budget, {study.data}, seed "
        f"{maps.net.trials[0].seed}. Red: positive, blue: negative, each channel on its own"
        " scale; small cross: last move. Green rings: where the published channel of that position is strongest, on "
        "the channel of ours that comes nearest to it"
    )
    inputs = (
        name,
        code("gonn_core"),
        [each.case.name for each in maps.positions],
        marks,
        shown,
        maps.maps[0].tobytes(),
    )
    size = (WIDTH, 0.45 + WIDTH / across * 0.97 * len(shown))
    return Picture(name, title, lambda: figure_bytes(name, size, paint, dpi=130), inputs)


def _chosen(maps: np.ndarray, first: Sequence[int]) -> list[int]:
    """The channels to draw, rising: those of `first`, then those that vary most over the boards. maps: (positions,
    channels, 361)."""
    busiest = np.argsort(-maps.std(-1).mean(0), kind="stable")
    return sorted(list(dict.fromkeys([*first, *map(int, busiest)]))[:SHOWN])


def _place(p: int) -> tuple[int, int]:
    return p % SIZE, p // SIZE


def _board(axes, values: np.ndarray, each, reach: float) -> None:
    """values (19, 19), the top row of the board first."""
    axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, zorder=1)
    axes.hlines(range(SIZE), 0, SIZE - 1, color=_LINE, linewidth=0.35, zorder=2)
    axes.vlines(range(SIZE), 0, SIZE - 1, color=_LINE, linewidth=0.35, zorder=2)
    for p, colour in enumerate(Board(each.case.position.stones).colours()):
        if colour != EMPTY:
            axes.add_patch(
                Circle(
                    _place(p),
                    0.36,
                    facecolor="#1a1a1a" if colour == BLACK else "white",
                    edgecolor="#1a1a1a",
                    linewidth=0.5,
                    zorder=3,
                )
            )
    for last in each.case.position.history[:1]:
        axes.plot(*_place(last), marker="+", markersize=4, markeredgewidth=1.0, color="#E69F00", zorder=4)
    axes.set(xlim=(-0.6, SIZE - 0.4), ylim=(SIZE - 0.4, -0.6), aspect="equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
