"""3x3 kernels by tap, ours and the published ones (spec: GoNN 6, learned-weight check)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from ablations.published_inspection import PublishedInspection, PublishedTaps
from gonn_core.errors import printable
from reports.cache import Picture
from reports.figures.style import WIDTH, figure_bytes
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.weights.layers import NetWeights, short_name
from reports.weights.statistics import EDGES, TAP_GROUPS

_TAPS = (
    Column("net", "net", "left"),
    Column("layer", "kernel", "left"),
    Column("corners", "corners"),
    Column("edges", "edges"),
    Column("center", "centre"),
    Column("ratio", "centre : edge"),
)


def taps_table(nets: Sequence[NetWeights], published_nets: Sequence[PublishedInspection] = ()) -> Table | None:
    """Root mean square of the corner, edge and centre taps of every 3x3 kernel in the blocks, the published ones below;
    None when no net has such kernels."""
    rows = []
    for each in nets:
        for layer in each.kernels:
            numbers = {group: each.tap_rms(layer, group) for group in TAP_GROUPS}
            rows.append(_taps_row(each.title, layer, numbers, each.trials))
    if not rows:
        return None
    for published in published_nets:
        for taps in published.taps:
            numbers = {name: getattr(taps, name) for name in TAP_GROUPS}
            rows.append(_taps_row(f"published: {published.net}", taps.layer, numbers))
    notes = [
        "Root mean square over input and output channels, mean over seeds. Weights scale with the net's width: "
        "compare the taps of one kernel."
    ]
    notes += [f"Published: {each.note}." for each in published_nets if each.taps and each.note]
    return Table("taps", "Kernels by tap", _TAPS, tuple(rows), tuple(notes))


def _taps_row(title: str, layer: str, numbers: Mapping[str, float], trials: tuple[str, ...] = ()) -> Row:
    cells = {key: Cell(f"{value:.4f}" if trials else f"{value:g}", value, trials) for key, value in numbers.items()}
    ratio = numbers["center"] / numbers["edges"]
    cells |= {"net": text_cell(title), "layer": text_cell(layer), "ratio": Cell(f"{ratio:.2f}", ratio, trials)}
    return Row(f"{title} {layer}", cells)


def taps_picture(nets: Sequence[NetWeights], published_nets: Sequence[PublishedInspection] = ()) -> Picture | None:
    """Every 3x3 kernel as a map of its nine taps, relative to the mean of its edge taps; published ones last."""
    shown = [
        (each.title, {layer: _relative(each.tap_map(layer)) for layer in each.kernels[:_KERNELS_AT_MOST]})
        for each in nets
        if each.kernels
    ]
    if not shown:
        return None
    shown += [
        (f"published: {each.net}", {taps.layer: _published_map(taps) for taps in each.taps})
        for each in published_nets
        if each.taps
    ]
    heights = [-(-len(maps) // _ACROSS) for _, maps in shown]

    def paint(figure: Figure) -> None:
        parts = figure.subfigures(len(shown), 1, height_ratios=heights, squeeze=False)[:, 0]
        for part, (title, maps), height in zip(parts, shown, heights, strict=True):
            part.suptitle(printable(title, 80), fontsize=10, x=0.01, ha="left")
            panels = part.subplots(height, _ACROSS, squeeze=False).ravel()
            for axes in panels:
                axes.set_axis_off()
            for axes, (layer, taps) in zip(panels, maps.items(), strict=False):
                _draw_taps(axes, taps, short_name(layer))

    title = "3×3 kernels by tap: root mean square over channels, as a multiple of the edge taps' mean"
    inputs = [(name, {layer: taps.tolist() for layer, taps in maps.items()}) for name, maps in shown]
    size = (WIDTH, sum(1.35 * height + 0.35 for height in heights))
    return Picture("taps", title, lambda: figure_bytes("taps", size, paint), inputs)


_ACROSS, _KERNELS_AT_MOST = 6, 24


def _relative(rms: np.ndarray) -> np.ndarray:
    """A map of taps over the mean of its four edge taps."""
    return rms / np.mean([rms[tap] for tap in EDGES])


def _published_map(published: PublishedTaps) -> np.ndarray:
    taps = np.full((3, 3), published.edges)
    taps[::2, ::2], taps[1, 1] = published.corners, published.center
    return taps / published.edges


def _draw_taps(axes, taps: np.ndarray, title: str) -> None:
    axes.imshow(taps, cmap="cividis", vmin=0.8, vmax=1.8)
    for (row, column), value in np.ndenumerate(taps):
        axes.text(
            column,
            row,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=7,
            color="black" if value > 1.35 else "white",
        )
    axes.set_title(printable(title, 26), fontsize=7.5)
