"""Slopes of parametric ReLUs and 3x3 kernels of one net by layer, with the published ones (spec: GoNN 6)."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from ablations.published_inspection import PublishedInspection
from gonn_core.errors import printable
from reports.cache import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.weights.statistics import EDGES, POOLED_SLOPES, TAP_GROUPS, Weights, is_kernel, tap_rms

THIS = "this net"
_PARTS = ("stem", "blocks", "trunk_end", "head", "output")
_ACROSS, _KERNELS_AT_MOST = 6, 24
_SLOPES = (
    Column("net", "net", "left"),
    Column("layer", "layer", "left"),
    Column("mean", "mean slope", parts=("mean", "mean_low", "mean_high")),
    Column("sd", "sd over channels", parts=("sd", "sd_low", "sd_high")),
)
_TAPS = (
    Column("net", "net", "left"),
    Column("layer", "kernel", "left"),
    Column("corners", "corners"),
    Column("edges", "edges"),
    Column("center", "centre"),
    Column("ratio", "centre : edge"),
)


def slopes_of(weights: Weights) -> dict[str, np.ndarray]:
    """Layer -> (channels,) slopes of its parametric ReLU, from the stem to the head."""
    layers = [name for name, values in weights.items() if "slopes" in name.rpartition(".")[2] and values.ndim == 1]
    return {layer: weights[layer].astype(np.float64) for layer in sorted(layers, key=_depth)}


def kernels_of(weights: Weights) -> dict[str, np.ndarray]:
    """Layer -> (out, in, 3, 3) kernels of the blocks, from the stem to the head."""
    layers = [name for name, values in weights.items() if is_kernel(name, values)]
    return {layer: weights[layer].astype(np.float64) for layer in sorted(layers, key=_depth)}


def _depth(layer: str) -> tuple:
    """Sorts names of layers from the stem to the head, blocks by number."""
    part = layer.split(".")[0]
    place = _PARTS.index(part) if part in _PARTS else 1
    return place, [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", layer) if word]


def _short_name(layer: str) -> str:
    """`block 1 slopes1`, `head.pooled`: a layer's name as a label."""
    block = re.match(r"blocks\.(\d+)\.(.*)", layer)
    return f"block {block[1]} {block[2].removesuffix('.kernel')}" if block else layer.removesuffix(".slopes")


def slopes_table(slopes: Mapping[str, np.ndarray], trial: str, published: Sequence[PublishedInspection]) -> Table:
    """Mean and standard deviation over the channels of every layer of parametric ReLUs, the published ones below."""
    rows = []
    for layer, values in slopes.items():
        numbers = {"mean": float(values.mean()), "sd": float(values.std())}
        cells = {key: Cell(formats.minus(f"{value:.3f}"), value, (trial,)) for key, value in numbers.items()}
        rows.append(Row(layer, {"net": text_cell(THIS), "layer": text_cell(layer), **cells}))
    for document in published:
        for group in document.slopes:
            cells = {
                "net": text_cell(f"published: {document.net}"),
                "layer": text_cell(group.layers),
                "mean": _range_cell(group.mean),
                "sd": _range_cell(group.sd),
            }
            rows.append(Row(f"published: {document.net}, {group.layers}", cells))
    return Table("slopes", "Slopes of parametric ReLUs", _SLOPES, tuple(rows), ("A plain ReLU has slope 0.",))


def _range_cell(ends: tuple[float, float] | None) -> Cell:
    if ends is None:
        return Cell(formats.NONE)
    low, high = (formats.minus(f"{end:.2f}") for end in ends)
    return Cell(low if low == high else f"{low} to {high}", list(ends))


def slopes_picture(slopes: Mapping[str, np.ndarray], published: Sequence[PublishedInspection]) -> Picture:
    """Mean slope by layer with bars of one standard deviation over channels, bands where the published means lie."""

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(0.0, color="0.35", linewidth=0.9)
        means, sds = [values.mean() for values in slopes.values()], [values.std() for values in slopes.values()]
        axes.errorbar(range(len(slopes)), means, yerr=sds, marker="o", markersize=4.5, capsize=2, color=COLOURS[0])
        for group in (group for document in published for group in document.slopes):
            places = [place for place, layer in enumerate(slopes) if (layer == POOLED_SLOPES) == group.pooled]
            if places:
                across, (low, high) = [min(places) - 0.3, max(places) + 0.3], group.mean
                axes.fill_between(
                    across, low - 0.006, high + 0.006, color=COLOURS[4], alpha=0.35, linewidth=0, zorder=0
                )
        axes.set_xticks(range(len(slopes)), [_short_name(layer) for layer in slopes], rotation=35, ha="right")
        axes.set_ylabel("slope")

    title = (
        "Slopes of parametric ReLUs by layer: mean and one standard deviation over channels; orange: the range of the "
        "published nets' means"
    )
    return Picture("slopes", title, lambda: figure_bytes("slopes", (WIDTH, 2.7), paint))


def taps_table(kernels: Mapping[str, np.ndarray], trial: str, published: Sequence[PublishedInspection]) -> Table:
    """Root mean square of the corner, edge and centre taps of every 3x3 kernel of the blocks, the published ones
    below."""
    rows = [
        _taps_row(THIS, layer, {name: tap_rms(kernel, taps) for name, taps in TAP_GROUPS.items()}, (trial,))
        for layer, kernel in kernels.items()
    ]
    for document in published:
        for taps in document.taps:
            numbers = {name: getattr(taps, name) for name in TAP_GROUPS}
            rows.append(_taps_row(f"published: {document.net}", taps.layer, numbers))
    notes = [
        "Root mean square over input and output channels. Weights scale with the net's width: compare the taps of one "
        "kernel.",
        *(f"Published: {document.note}." for document in published if document.taps and document.note),
    ]
    return Table("taps", "Kernels by tap", _TAPS, tuple(rows), tuple(notes))


def _taps_row(net: str, layer: str, numbers: Mapping[str, float], trials: tuple[str, ...] = ()) -> Row:
    cells = {key: Cell(f"{value:.4f}" if trials else f"{value:g}", value, trials) for key, value in numbers.items()}
    ratio = numbers["center"] / numbers["edges"]
    cells |= {"net": text_cell(net), "layer": text_cell(layer), "ratio": Cell(f"{ratio:.2f}", ratio, trials)}
    return Row(f"{net} {layer}", cells)


def tap_map(kernel: np.ndarray) -> np.ndarray:
    """(3, 3) root mean square of each tap of a kernel (out, in, 3, 3), over the mean of its four edge taps."""
    rms = np.sqrt((kernel**2).mean(axis=(0, 1)))
    return rms / np.mean([rms[tap] for tap in EDGES])


def taps_picture(kernels: Mapping[str, np.ndarray], published: Sequence[PublishedInspection]) -> Picture:
    """The first 3x3 kernels as maps of their nine taps; published ones last."""
    shown = [(THIS, {layer: tap_map(kernels[layer]) for layer in list(kernels)[:_KERNELS_AT_MOST]})]
    for document in published:
        if document.taps:
            maps = {}
            for taps in document.taps:
                maps[taps.layer] = np.ones((3, 3))
                maps[taps.layer][::2, ::2] = taps.corners / taps.edges
                maps[taps.layer][1, 1] = taps.center / taps.edges
            shown.append((f"published: {document.net}", maps))
    heights = [-(-len(maps) // _ACROSS) for _, maps in shown]

    def paint(figure: Figure) -> None:
        parts = figure.subfigures(len(shown), 1, height_ratios=heights, squeeze=False)[:, 0]
        for part, (title, maps), height in zip(parts, shown, heights, strict=True):
            part.suptitle(printable(title, 80), fontsize=10, x=0.01, ha="left")
            panels = part.subplots(height, _ACROSS, squeeze=False).ravel()
            for axes in panels:
                axes.set_axis_off()
            for axes, (layer, taps) in zip(panels, maps.items(), strict=False):
                _draw_taps(axes, taps, _short_name(layer))

    title = "3×3 kernels by tap: root mean square over channels, as a multiple of the edge taps' mean"
    size = (WIDTH, sum(1.35 * height + 0.35 for height in heights))
    return Picture("taps", title, lambda: figure_bytes("taps", size, paint))


def _draw_taps(axes, taps: np.ndarray, title: str) -> None:
    axes.imshow(taps, cmap="cividis", vmin=0.8, vmax=1.8)
    for (row, column), value in np.ndenumerate(taps):
        colour = "black" if value > 1.35 else "white"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
    axes.set_title(printable(title, 26), fontsize=7.5)
