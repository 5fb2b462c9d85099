"""Looks at trained weights, as the GoNN document shows them: slopes of parametric ReLUs by layer, kernels by tap (spec: GoNN 6)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from gonn_core.errors import printable
from reports import formats
from reports.book_nets import MeasuredNet
from reports.book_section import Picture
from reports.cells import Cell, Column, Row, Table, text_cell
from reports.figures import WIDTH, figure_bytes
from reports.panels import COLOURS
from reports.weight_statistics import CENTER, CORNERS, EDGES, Weights, last_snapshot, snapshot_weights, tap_rms

_PARTS = ("stem", "blocks", "trunk_end", "head", "output")
_SLOPES = (Column("net", "net", "left"), Column("layer", "layer", "left"), Column("mean", "mean slope"), Column("sd", "sd over channels"))
_TAPS = (
    Column("net", "net", "left"),
    Column("layer", "kernel", "left"),
    Column("corners", "corners"),
    Column("edges", "edges"),
    Column("center", "centre"),
    Column("ratio", "centre : edge"),
)


@dataclass(frozen=True)
class NetWeights:
    """Final weights of a net's trials whose snapshots are still there."""

    net: MeasuredNet
    trials: tuple[str, ...]
    weights: tuple[Weights, ...]

    @property
    def title(self) -> str:
        """`gonn-b5 (cpu, kgs)`."""
        return f"{self.net.name} ({self.net.study.budget}, {self.net.study.data})"

    def mean(self, layer: str) -> np.ndarray:
        """A layer's weights, stacked over trials on a new first axis."""
        return np.stack([each[layer] for each in self.weights])

    def layers(self, wanted) -> list[str]:
        """Names of layers whose name and values are `wanted`, from the stem to the head."""
        return sorted((name for name, values in self.weights[0].items() if wanted(name, values)), key=depth)


def depth(layer: str) -> tuple:
    """Sorts names of layers from the stem to the head, blocks by number."""
    part = layer.split(".")[0]
    place = _PARTS.index(part) if part in _PARTS else 1
    return place, [(int(each), "") if each.isdigit() else (-1, each) for each in re.split(r"(\d+)", layer) if each]


def net_weights(nets: Sequence[MeasuredNet]) -> list[NetWeights]:
    """Weights of each net, of the trials whose last snapshot is there. Raises InputError for a damaged one."""
    found = []
    for net in nets:
        trials = [trial for trial in net.trials if last_snapshot(trial.folder, trial.result).exists()]
        if trials:
            weights = tuple(snapshot_weights(last_snapshot(trial.folder, trial.result)) for trial in trials)
            found.append(NetWeights(net, tuple(trial.id for trial in trials), weights))
    return found


def slopes_table(found: Sequence[NetWeights]) -> Table | None:
    """Mean and spread over the channels of every layer of parametric ReLUs; None when no net has any."""
    rows = []
    for each in found:
        for layer in each.layers(_is_slopes):
            values = each.mean(layer)
            numbers = {"mean": float(values.mean(dtype=np.float64)), "sd": float(values.std(axis=1, dtype=np.float64).mean())}
            cells = {key: Cell(formats.minus(f"{value:.3f}"), value, each.trials) for key, value in numbers.items()}
            rows.append(Row(f"{each.title} {layer}", {"net": text_cell(each.title), "layer": text_cell(layer), **cells}))
    return Table("slopes", "Slopes of parametric ReLUs", _SLOPES, tuple(rows), ("Means over seeds. A plain ReLU has slope 0.",)) if rows else None


def _is_slopes(layer: str, values: np.ndarray) -> bool:
    return "slopes" in layer.rpartition(".")[2] and values.ndim == 1


def slopes_picture(found: Sequence[NetWeights]) -> Picture | None:
    """Mean slope by layer, bars of one standard deviation over channels; a panel a net."""
    shown = [(each, each.layers(_is_slopes)) for each in found]
    shown = [(each, layers) for each, layers in shown if layers]
    if not shown:
        return None

    def paint(figure: Figure) -> None:
        for axes, (each, layers) in zip(figure.subplots(len(shown), 1, squeeze=False)[:, 0], shown):
            stacked = [each.mean(layer) for layer in layers]
            means, sds = [float(values.mean()) for values in stacked], [float(values.std(axis=1).mean()) for values in stacked]
            axes.axhline(0.0, color="0.35", linewidth=0.9)
            axes.errorbar(range(len(layers)), means, yerr=sds, marker="o", markersize=4.5, linewidth=1.2, elinewidth=1.0, capsize=2, color=COLOURS[0])
            axes.set_xticks(range(len(layers)), [short_name(layer) for layer in layers], rotation=35, ha="right")
            axes.set_title(printable(each.title, 80), loc="left")
            axes.set_ylabel("slope")

    title = "Slopes of parametric ReLUs by layer: mean over channels and seeds, bars one standard deviation over channels"
    return Picture("slopes", title, figure_bytes("slopes", (WIDTH, 2.7 * len(shown)), paint))


def short_name(layer: str) -> str:
    """`block 1 slopes1`, `head.pooled`: a layer's name as a label."""
    block = re.match(r"blocks\.(\d+)\.(.*)", layer)
    return f"block {block[1]} {block[2].removesuffix('.kernel')}" if block else layer.removesuffix(".slopes")


def taps_table(found: Sequence[NetWeights]) -> Table | None:
    """Root mean square of the corner, edge and centre taps of every 3x3 kernel in the blocks; None when no net has such kernels."""
    rows = []
    for each in found:
        for layer in each.layers(_is_kernel):
            numbers = {name: float(np.mean([tap_rms(kernel, taps) for kernel in each.mean(layer)])) for name, taps in _GROUPS.items()}
            cells = {key: Cell(f"{value:.4f}", value, each.trials) for key, value in numbers.items()}
            ratio = numbers["center"] / numbers["edges"]
            cells |= {"net": text_cell(each.title), "layer": text_cell(layer), "ratio": Cell(f"{ratio:.2f}", ratio, each.trials)}
            rows.append(Row(f"{each.title} {layer}", cells))
    note = "Root mean square over input and output channels, mean over seeds. Weights scale with the net's width: compare the taps of one kernel."
    return Table("taps", "Kernels by tap", _TAPS, tuple(rows), (note,)) if rows else None


_GROUPS: Mapping[str, tuple] = {"corners": CORNERS, "edges": EDGES, "center": CENTER}


def _is_kernel(layer: str, values: np.ndarray) -> bool:
    return layer.startswith("blocks.") and values.ndim == 4 and values.shape[2:] == (3, 3)


def taps_picture(found: Sequence[NetWeights]) -> Picture | None:
    """Every 3x3 kernel as a map of its nine taps, relative to the mean of its edge taps."""
    shown = [(each, layers[:_KERNELS_AT_MOST]) for each in found if (layers := each.layers(_is_kernel))]
    if not shown:
        return None
    heights = [-(-len(layers) // _ACROSS) for _, layers in shown]

    def paint(figure: Figure) -> None:
        parts = figure.subfigures(len(shown), 1, height_ratios=heights, squeeze=False)[:, 0]
        for part, (each, layers), height in zip(parts, shown, heights):
            part.suptitle(printable(each.title, 80), fontsize=10, x=0.01, ha="left")
            panels = part.subplots(height, _ACROSS, squeeze=False).ravel()
            for axes in panels:
                axes.set_axis_off()
            for axes, layer in zip(panels, layers):
                _draw_taps(axes, _tap_map(each.mean(layer)), short_name(layer))

    title = "3×3 kernels by tap: root mean square over channels, as a multiple of the edge taps' mean"
    return Picture("taps", title, figure_bytes("taps", (WIDTH, sum(1.35 * height + 0.35 for height in heights)), paint))


_ACROSS, _KERNELS_AT_MOST = 6, 24


def _tap_map(kernels: np.ndarray) -> np.ndarray:
    """(3, 3) root mean square of each tap over kernels (trials, out, in, 3, 3), over the mean of the four edge taps."""
    rms = np.sqrt((kernels.astype(np.float64) ** 2).mean(axis=(1, 2))).mean(axis=0)
    return rms / np.mean([rms[tap] for tap in EDGES])


def _draw_taps(axes, taps: np.ndarray, title: str) -> None:
    axes.imshow(taps, cmap="cividis", vmin=0.8, vmax=1.8)
    for (row, column), value in np.ndenumerate(taps):
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color="black" if value > 1.35 else "white")
    axes.set_title(printable(title, 26), fontsize=7.5)
