"""Channels of the policy head just before they are pooled, as heat maps on the documents' positions, and how near they
come to the published ones (spec: GoNN 7.7, 7.16, 7.17)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ablations.published_inspection import PublishedChannel
from gonn_core.config import TrialConfig
from gonn_core.errors import printable
from gonn_core.evaluation.probes.suite import PublishedPosition, published
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, EMPTY, SIZE, point, point_name
from reports.cache import Picture
from reports.figures.style import WIDTH, figure_bytes
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

SHOWN = 6
"""Channels that are drawn at most."""
_MARK, _LINE = "#009E73", "0.75"
_COLUMNS = (
    Column("position", "position", "left"),
    Column("published", "published channel", "left"),
    Column("points", "its strongest points", "left", under="published"),
    Column("ours", "nearest of ours", "left"),
    Column("strongest", "its strongest points", "left", under="ours"),
    Column("likeness", "likeness (sd)"),
    Column("untrained", "untrained"),
)
_NOTE = (
    "Likeness: the channel's mean at the points where the published one is strongest, minus that where it is weakest "
    "(else over the board), in standard deviations over the board; for the channel in which this is largest, its sign "
    "aside. Untrained: the same for the net before training, from choosing among as many channels by chance."
)


def likeness(maps: np.ndarray, channel: PublishedChannel) -> np.ndarray:
    """(...) of maps (..., 361): their mean at the points where the published channel is high, minus that where it is
    low (else that of the board), in standard deviations over the board; negative for a channel of the other sign, 0 for
    a flat one. This project's measure."""
    scaled = maps - maps.mean(-1, keepdims=True, dtype=np.float64)
    spread = scaled.std(-1, keepdims=True)
    scaled = np.divide(scaled, spread, out=np.zeros_like(scaled), where=spread > 1e-6)
    high, low = ([point(name) for name in points] for points in (channel.high, channel.low))
    return scaled[..., high].mean(-1) - (scaled[..., low].mean(-1) if low else 0.0)


def pools(config: TrialConfig) -> bool:
    """Whether a net pools channels in its head."""
    return config.net.family == "gonn" and config.net.head.pooling != "none"


@dataclass(frozen=True)
class ChannelMaps:
    """maps, untrained: (positions, channels, 361) float32 of a net, and of the same net before training."""

    trial: str
    positions: tuple[PublishedPosition, ...]
    maps: np.ndarray
    untrained: np.ndarray

    def of(self, maps: np.ndarray, channel: PublishedChannel) -> np.ndarray:
        """(channels,) likeness to a published channel on its position."""
        return likeness(maps[[each.case.name for each in self.positions].index(channel.position)], channel)

    def nearest(self, channel: PublishedChannel) -> int:
        """The channel that is most like a published one."""
        return int(np.abs(self.of(self.maps, channel)).argmax())


def channel_maps(trial: str, net, config: TrialConfig, channels: Sequence[PublishedChannel]) -> ChannelMaps | None:
    """Maps of a trained net on the positions of published channels; None for a net that pools nothing in its head."""
    from gonn_core.nets import trial_net  # torch and numba, only where channels are asked for

    positions = tuple(each for each in published() if each.case.name in {channel.position for channel in channels})
    if not pools(config) or not positions:
        return None
    start = trial_net(config).eval()
    return ChannelMaps(trial, positions, pooled_maps(net, config, positions), pooled_maps(start, config, positions))


def pooled_maps(net, config: TrialConfig, positions: Sequence[PublishedPosition]) -> np.ndarray:
    """(positions, channels, 361) float32."""
    from gonn_core.evaluation.probes.measure import on_positions
    from gonn_core.nets.cost import one_thread

    maps = []

    def ask(planes):
        body = net.body(planes)
        maps.append(net.head.channels_to_pool(body).flatten(2).numpy())
        return net.head(body)

    with one_thread():
        on_positions(config.features, [each.case.position for each in positions], ask)
    return np.concatenate(maps)


def channels_table(maps: ChannelMaps, channels: Sequence[PublishedChannel]) -> Table:
    """A row per published channel."""
    rows = []
    for channel in channels:
        ours, near = maps.nearest(channel), maps.of(maps.maps, channel)
        place = [each.case.name for each in maps.positions].index(channel.position)
        signed = maps.maps[place, ours] * np.sign(near[ours])
        best, before = (float(np.abs(maps.of(some, channel)).max()) for some in (maps.maps, maps.untrained))
        cells = {
            "position": text_cell(channel.position),
            "published": text_cell(f"{channel.channel}: {channel.what}"),
            "points": text_cell(_strongest({point(name): value for name, value in channel.high.items()})),
            "ours": Cell(f"{ours} of {len(near)}", ours, (maps.trial,)),
            "strongest": text_cell(_strongest(dict(enumerate(signed))), (maps.trial,)),
            "likeness": Cell(f"{best:.1f}", best, (maps.trial,)),
            "untrained": Cell(formats.minus(f"{before:.1f}"), before),
        }
        rows.append(Row(channel.position, cells))
    return Table("channels", "Channels before pooling", _COLUMNS, tuple(rows), (_NOTE,))


def _strongest(values: dict[int, float], count: int = 5) -> str:
    order = sorted(values, key=lambda place: (-values[place], place))[:count]
    return ", ".join(point_name(place) for place in order)


def channels_picture(maps: ChannelMaps, channels: Sequence[PublishedChannel]) -> Picture:
    """Heat maps: a row a channel, a column a position."""
    marks = {(maps.nearest(channel), channel.position): channel for channel in channels}
    shown, across = chosen(maps.maps, [channel for channel, _ in marks]), len(maps.positions)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(shown), across, squeeze=False)
        for row, channel in zip(panels, shown, strict=True):
            reach = float(np.abs(maps.maps[:, channel]).max()) or 1.0
            for place, (axes, position) in enumerate(zip(row, maps.positions, strict=True)):
                _board(axes, maps.maps[place, channel].reshape(SIZE, SIZE), position, reach)
                mark = marks.get((channel, position.case.name))
                for name in mark.high if mark else ():
                    ring = Circle(_place(point(name)), 0.5, fill=False, edgecolor=_MARK, linewidth=1.3, zorder=5)
                    axes.add_patch(ring)
            row[0].set_ylabel(f"channel {channel}\n±{reach:.2g}")
        for axes, position in zip(panels[0], maps.positions, strict=True):
            colour = "Black" if position.case.position.mover == BLACK else "White"
            axes.set_title(f"{printable(position.case.name, 40)}\n{colour} to play", fontsize=9)

    title = (
        "Channels just before pooling. Red: positive, blue: negative, each channel on its own scale; small cross: last "
        "move. Green rings: where the published channel of that position is strongest, on our nearest channel"
    )
    size = (WIDTH, 0.45 + WIDTH / across * 0.97 * len(shown))
    return Picture("channels", title, lambda: figure_bytes("channels", size, paint, dpi=130))


def chosen(maps: np.ndarray, first: Sequence[int]) -> list[int]:
    """The channels to draw, rising: those of `first`, then those that vary most over the boards. maps: (positions,
    channels, 361)."""
    busiest = np.argsort(-maps.std(-1).mean(0), kind="stable")
    return sorted(list(dict.fromkeys([*first, *map(int, busiest)]))[:SHOWN])


def _place(p: int) -> tuple[int, int]:
    return p % SIZE, p // SIZE


def _board(axes, values: np.ndarray, shown: PublishedPosition, reach: float) -> None:
    """values: (19, 19), the top row of the board first."""
    axes.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach, zorder=1)
    axes.hlines(range(SIZE), 0, SIZE - 1, color=_LINE, linewidth=0.35, zorder=2)
    axes.vlines(range(SIZE), 0, SIZE - 1, color=_LINE, linewidth=0.35, zorder=2)
    for p, colour in enumerate(Board(shown.case.position.stones).colours()):
        if colour != EMPTY:
            face = "#1a1a1a" if colour == BLACK else "white"
            axes.add_patch(
                Circle(_place(p), 0.36, facecolor=face, edgecolor="#1a1a1a", linewidth=0.5, zorder=3),
            )
    for last in shown.case.position.history[:1]:
        axes.plot(*_place(last), marker="+", markersize=4, markeredgewidth=1.0, color="#E69F00", zorder=4)
    axes.set(xlim=(-0.6, SIZE - 0.4), ylim=(SIZE - 0.4, -0.6), aspect="equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
