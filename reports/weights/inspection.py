"""`gonn inspect`: what is inside one trained net, as a page in a folder of its own. Slopes of parametric ReLUs and 3x3
kernels by layer, and channels of the policy head just before they are pooled, each with the published ones (spec:
GoNN 6, 7.7, 7.16, 7.17)."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from ablations.published_results import PublishedChannel, PublishedInspection
from ablations.registry import Registry
from gonn_core.config import TrialConfig
from gonn_core.errors import printable
from gonn_core.evaluation.probes.suite import PublishedPosition, published
from gonn_core.go.points import BLACK, SIZE, point
from gonn_core.trial.weights import load_net
from reports.cache import Picture
from reports.figures.style import WIDTH, figure_bytes
from reports.page import Page, Section, escaped, markdown
from reports.probes.boards import board_place, draw_grid, draw_stones
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, make_row
from reports.tables.writers import csv_text
from reports.weights.statistics import TAP_GROUPS, Weights, is_kernel, tap_rms
from reports.workspace import write_files

PAGE = "inspect.md"
THIS = "this net"
SHOWN = 6
"""Channels that are drawn at most."""
_PARTS = ("stem", "blocks", "trunk_end", "head", "output")


def write_inspection(trial: Path, samples: int | None, registry: Registry, folder: Path) -> Path:
    """Write slopes, kernels and channels of a trial's net after `samples` (None: all) into `folder`, each with the
    published ones; the path of the page. A net without any of them has a page that says so.

    Raises InputError for a snapshot that is missing or damaged, or when the disk is full.
    """
    net, config = load_net(trial, samples)
    weights = {name: values.detach().numpy() for name, values in net.named_parameters()}
    documents = [document.looks for document in registry.published.values() if document.looks is not None]
    tables = [slopes_table(weights, trial.name, documents), taps_table(weights, trial.name, documents)]
    sections = [
        Section(table.title, tables=(table,))
        for table in tables
        if any(row.cells["net"].text == THIS for row in table.rows)
    ]
    channels = [channel for document in documents for channel in document.channels]
    if section := channels_section(net, config, channels):
        sections.append(section)
    about = f"After {samples:,} samples" if samples else "After training"
    nothing = "It has no parametric ReLUs, no 3x3 kernels in blocks and no pooled channels."
    title = f"Inside the net of trial {trial.name}"
    page = Page(title, about if sections else nothing, None, tuple(sections))
    files = {f"{table.name}.csv": csv_text(table).encode() for table in page.tables}
    for picture in page.pictures:
        files |= picture.files()
    write_files(folder, {**files, PAGE: markdown(page).encode()})
    return folder / PAGE


def _depth(layer: str) -> tuple:
    """Sorts names of layers from the stem to the head, blocks by number."""
    part = layer.split(".")[0]
    place = _PARTS.index(part) if part in _PARTS else 1
    return place, [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", layer) if word]


_SLOPES = (
    Column("net", "net", "left"),
    Column("layer", "layer", "left"),
    Column("mean", "mean slope", parts=("mean", "mean_low", "mean_high")),
    Column("sd", "sd over channels", parts=("sd", "sd_low", "sd_high")),
)
_TAPS = (
    Column("net", "net", "left"),
    Column("layer", "kernel", "left"),
    Column("corners", "corners", show="{:.4f}".format),
    Column("edges", "edges", show="{:.4f}".format),
    Column("center", "centre", show="{:.4f}".format),
    Column("ratio", "centre : edge", show="{:.2f}".format),
)
_TAPS_NOTE = (
    "Root mean square over input and output channels. Weights scale with the net's width: compare the taps of one "
    "kernel."
)


def slopes_table(weights: Weights, trial: str, documents: Sequence[PublishedInspection]) -> Table:
    """Mean and standard deviation over the channels of every layer of parametric ReLUs from the stem to the head, the
    published ones below."""
    layers = [name for name, values in weights.items() if "slopes" in name.rpartition(".")[2] and values.ndim == 1]
    rows = []
    for layer in sorted(layers, key=_depth):
        slopes = weights[layer].astype(np.float64)
        numbers = {"mean": float(slopes.mean()), "sd": float(slopes.std())}
        cells = {key: Cell(formats.minus(f"{value:.3f}"), value, (trial,)) for key, value in numbers.items()}
        rows.append(make_row(_SLOPES, layer, {"net": THIS, "layer": layer, **cells}))
    for document in documents:
        for group in document.slopes:
            ranges = {key: _range_cell(ends) for key in ("mean", "sd") if (ends := getattr(group, key)) is not None}
            name = f"published: {document.net}"
            rows.append(make_row(_SLOPES, f"{name}, {group.layers}", {"net": name, "layer": group.layers, **ranges}))
    return Table("slopes", "Slopes of parametric ReLUs", _SLOPES, tuple(rows), ("A plain ReLU has slope 0.",))


def _range_cell(ends: tuple[float, float]) -> Cell:
    low, high = (formats.minus(f"{end:.2f}") for end in ends)
    return Cell(low if low == high else f"{low} to {high}", list(ends))


def taps_table(weights: Weights, trial: str, documents: Sequence[PublishedInspection]) -> Table:
    """Root mean square of the corner, edge and centre taps of every 3x3 kernel of the blocks, the published ones
    below."""
    kernels = sorted((name for name, values in weights.items() if is_kernel(name, values)), key=_depth)
    taps: list[tuple[str, str, dict[str, float], tuple[str, ...]]] = [
        (THIS, name, {group: tap_rms(weights[name], places) for group, places in TAP_GROUPS.items()}, (trial,))
        for name in kernels
    ]
    taps += [
        (f"published: {document.net}", each.layer, {group: getattr(each, group) for group in TAP_GROUPS}, ())
        for document in documents
        for each in document.taps
    ]
    rows = []
    for net, layer, numbers, trials in taps:
        values = {"net": net, "layer": layer, **numbers, "ratio": numbers["center"] / numbers["edges"]}
        rows.append(make_row(_TAPS, f"{net} {layer}", values, trials))
    notes = [f"Published: {document.note}." for document in documents if document.taps and document.note]
    return Table("taps", "Kernels by tap", _TAPS, tuple(rows), (_TAPS_NOTE, *notes))


def pooled_maps(net, config: TrialConfig, positions: Sequence[PublishedPosition]) -> np.ndarray:
    """(positions, channels, 361) float32 of the channels that a net pools in its policy head."""
    from gonn_core.evaluation.probes.measure import on_positions  # torch and numba, only where channels are needed
    from gonn_core.nets.cost import one_thread

    maps = []

    def evaluate(planes):
        body = net.body(planes)
        maps.append(net.head.channels_to_pool(body).flatten(2).numpy())
        return net.head(body)

    with one_thread():
        on_positions(config.features, [each.case.position for each in positions], evaluate)
    return np.concatenate(maps)


def channels_section(net, config: TrialConfig, channels: Sequence[PublishedChannel]) -> Section | None:
    """Heat maps of the channels that vary most, on the positions of published channels, and what those show; None for a
    net that pools nothing in its head."""
    positions = [each for each in published() if each.case.name in {channel.position for channel in channels}]
    if config.net.family != "gonn" or config.net.head.pooling == "none" or not positions:
        return None
    said = [
        f"Published, {channel.position}, channel {channel.channel}: {channel.what}. Strongest at "
        f"{', '.join(sorted(channel.high, key=lambda name: -channel.high[name]))}."
        for channel in channels
    ]
    picture = channels_picture(pooled_maps(net, config, positions), positions, channels)
    return Section("Channels before pooling", escaped(said), (picture,))


def channels_picture(
    maps: np.ndarray, positions: Sequence[PublishedPosition], channels: Sequence[PublishedChannel]
) -> Picture:
    """A row per channel, a column per position. maps: as of `pooled_maps`."""
    shown, across = np.sort(np.argsort(-maps.std(-1).mean(0), kind="stable")[:SHOWN]), len(positions)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(shown), across, squeeze=False)
        for row, channel in zip(panels, shown, strict=True):
            reach = float(np.abs(maps[:, channel]).max()) or 1.0
            for axes, values, position in zip(row, maps[:, channel], positions, strict=True):
                draw_grid(axes, wood="white", line="0.75", labels=False)
                image = values.reshape(SIZE, SIZE)[::-1]
                axes.imshow(image, cmap="RdBu_r", vmin=-reach, vmax=reach, origin="lower", zorder=0.5)
                draw_stones(axes, position.case.position, radius=0.36)
                for name in (name for each in channels if each.position == position.case.name for name in each.high):
                    centre = board_place(point(name))
                    axes.add_patch(Circle(centre, 0.5, fill=False, edgecolor="#009E73", linewidth=1.3, zorder=5))
            row[0].set_ylabel(f"channel {channel}\n±{reach:.2g}")
        for axes, position in zip(panels[0], positions, strict=True):
            colour = "Black" if position.case.position.mover == BLACK else "White"
            axes.set_title(f"{printable(position.case.name, 40)}\n{colour} to play", fontsize=9)

    title = (
        "Channels just before pooling that vary most. Red: positive, blue: negative, each on its own scale; blue ring: "
        "last move; green rings: where the published channels of that position are strongest"
    )
    size = (WIDTH, 0.45 + WIDTH / across * 0.97 * len(shown))
    return Picture("channels", title, lambda: figure_bytes("channels", size, paint, dpi=130))
