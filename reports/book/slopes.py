"""Slopes of parametric ReLUs by layer, ours and the published ones (spec: GoNN 6)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ablations.published_inspection import PublishedInspection, PublishedSlopes
from gonn_core.errors import printable
from reports.cache import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.weights.layers import NetWeights, short_name
from reports.weights.statistics import POOLED_SLOPES

_SLOPES = (
    Column("net", "net", "left"),
    Column("layer", "layer", "left"),
    Column("mean", "mean slope", parts=("mean", "mean_low", "mean_high")),
    Column("sd", "sd over channels", parts=("sd", "sd_low", "sd_high")),
)


def slopes_table(nets: Sequence[NetWeights], published_nets: Sequence[PublishedInspection] = ()) -> Table | None:
    """Mean and spread over the channels of every layer of parametric ReLUs, the published ones below; None when no net
    has any."""
    rows = []
    for each in nets:
        for layer in each.slope_layers:
            values = each.slopes(layer)
            numbers = {
                "mean": float(values.mean(dtype=np.float64)),
                "sd": float(values.std(axis=1, dtype=np.float64).mean()),
            }
            cells = {key: Cell(formats.minus(f"{value:.3f}"), value, each.trials) for key, value in numbers.items()}
            rows.append(
                Row(f"{each.title} {layer}", {"net": text_cell(each.title), "layer": text_cell(layer), **cells})
            )
    if not rows:
        return None
    for published in published_nets:
        for slopes in published.slopes:
            cells = {
                "net": text_cell(f"published: {published.net}"),
                "layer": text_cell(slopes.layers),
                "mean": _range_cell(slopes.mean),
                "sd": _range_cell(slopes.sd),
            }
            rows.append(Row(f"published: {published.net}, {slopes.layers}", cells))
    return Table(
        "slopes", "Slopes of parametric ReLUs", _SLOPES, tuple(rows), ("Means over seeds. A plain ReLU has slope 0.",)
    )


def _range_cell(ends: tuple[float, float] | None) -> Cell:
    if ends is None:
        return Cell(formats.NONE)
    low, high = (formats.minus(f"{end:.2f}") for end in ends)
    return Cell(low if low == high else f"{low} to {high}", list(ends))


def slopes_picture(nets: Sequence[NetWeights], published_nets: Sequence[PublishedInspection] = ()) -> Picture | None:
    """Mean slope by layer, bars of one standard deviation over channels, bands where the published means lie; a panel a
    net."""
    shown = [(each, each.slope_layers) for each in nets]
    shown = [(each, layers) for each, layers in shown if layers]
    if not shown:
        return None

    panels = [(each.title, layers, *_means_and_sds([each.slopes(layer) for layer in layers])) for each, layers in shown]
    published = [slopes for each in published_nets for slopes in each.slopes]

    def paint(figure: Figure) -> None:
        for axes, (name, layers, means, sds) in zip(
            figure.subplots(len(panels), 1, squeeze=False)[:, 0], panels, strict=True
        ):
            axes.axhline(0.0, color="0.35", linewidth=0.9)
            axes.errorbar(
                range(len(layers)),
                means,
                yerr=sds,
                marker="o",
                markersize=4.5,
                linewidth=1.2,
                elinewidth=1.0,
                capsize=2,
                color=COLOURS[0],
            )
            _published_bands(axes, layers, published)
            axes.set_xticks(range(len(layers)), [short_name(layer) for layer in layers], rotation=35, ha="right")
            axes.set_title(printable(name, 80), loc="left")
            axes.set_ylabel("slope")

    title = (
        "Slopes of parametric ReLUs by layer: mean over channels and seeds, bars one standard deviation over channels"
    )
    title += "; orange: between which the published nets' means lie" if published else ""
    size = (WIDTH, 2.7 * len(panels))
    return Picture("slopes", title, lambda: figure_bytes("slopes", size, paint), (panels, published))


def _means_and_sds(layers: Sequence[np.ndarray]) -> tuple[list[float], list[float]]:
    """Of slopes (trials, channels), by layer."""
    return [float(values.mean()) for values in layers], [float(values.std(axis=1).mean()) for values in layers]


def _published_bands(axes, layers: Sequence[str], published: Sequence[PublishedSlopes]) -> None:
    for each in published:
        places = [place for place, layer in enumerate(layers) if (layer == POOLED_SLOPES) == each.pooled]
        if places:
            low, high = each.mean
            axes.fill_between(
                [min(places) - 0.3, max(places) + 0.3],
                low - 0.006,
                high + 0.006,
                color=COLOURS[4],
                alpha=0.35,
                linewidth=0,
                zorder=0,
            )
