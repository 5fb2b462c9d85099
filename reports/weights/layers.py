"""Trained weights of the nets behind a report, by layer from the stem to the head; and what the documents show of
theirs."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ablations.published_inspection import PublishedInspection
from ablations.registry import Registry
from reports.cache import cached, code
from reports.results.nets import MeasuredNet
from reports.results.study_results import TrialResult
from reports.weights.statistics import (
    TAP_GROUPS,
    Weights,
    has_weights,
    is_kernel,
    last_snapshot,
    snapshot_weights,
    tap_rms,
    weights_stamp,
)

_PARTS = ("stem", "blocks", "trunk_end", "head", "output")


@dataclass(frozen=True)
class WeightStatistics:
    """Of one trial's weights. slopes: layer -> (channels,) of its parametric ReLUs; taps: 3x3 kernel of a
    block -> its taps."""

    slopes: Mapping[str, np.ndarray]
    taps: Mapping[str, "Taps"]


@dataclass(frozen=True)
class Taps:
    """Of a kernel (out, in, 3, 3). rms: root mean square of the taps of each of TAP_GROUPS; squares (3, 3) float64:
    mean square of every tap."""

    rms: Mapping[str, float]
    squares: np.ndarray


@dataclass(frozen=True)
class NetWeights:
    """Statistics of the final weights of a net's trials whose snapshots are still there."""

    net: MeasuredNet
    trials: tuple[str, ...]
    statistics: tuple[WeightStatistics, ...]

    @property
    def title(self) -> str:
        """Of its net."""
        return self.net.title

    @property
    def slope_layers(self) -> list[str]:
        """Layers of parametric ReLUs, from the stem to the head."""
        return sorted(self.statistics[0].slopes, key=depth)

    @property
    def kernels(self) -> list[str]:
        """3x3 kernels of the blocks, from the stem to the head."""
        return sorted(self.statistics[0].taps, key=depth)

    def slopes(self, layer: str) -> np.ndarray:
        """(trials, channels)."""
        return np.stack([each.slopes[layer] for each in self.statistics])

    def tap_rms(self, kernel: str, group: str) -> float:
        """Of one of TAP_GROUPS, mean over trials."""
        return float(np.mean([each.taps[kernel].rms[group] for each in self.statistics]))

    def tap_map(self, kernel: str) -> np.ndarray:
        """(3, 3) root mean square of each tap, mean over trials."""
        return np.sqrt(np.stack([each.taps[kernel].squares for each in self.statistics])).mean(axis=0)


def depth(layer: str) -> tuple:
    """Sorts names of layers from the stem to the head, blocks by number."""
    part = layer.split(".")[0]
    place = _PARTS.index(part) if part in _PARTS else 1
    return place, [(int(each), "") if each.isdigit() else (-1, each) for each in re.split(r"(\d+)", layer) if each]


def net_weights(nets: Sequence[MeasuredNet]) -> list[NetWeights]:
    """Statistics of the weights of each net, of the trials whose last snapshot is there. Raises InputError for a
    damaged one."""
    weights = []
    for net in nets:
        trials = [trial for trial in net.trials if has_weights(trial)]
        if trials:
            statistics = tuple(_cached_statistics(trial, net.cache) for trial in trials)
            weights.append(NetWeights(net, tuple(trial.id for trial in trials), statistics))
    return weights


def weight_statistics(weights: Weights) -> WeightStatistics:
    """Of one trial's weights."""
    kernels = {layer: kernel for layer, kernel in weights.items() if is_kernel(layer, kernel)}
    return WeightStatistics(
        {layer: values for layer, values in weights.items() if _is_slopes(layer, values)},
        {layer: _taps(kernel) for layer, kernel in kernels.items()},
    )


def _is_slopes(layer: str, values: np.ndarray) -> bool:
    return "slopes" in layer.rpartition(".")[2] and values.ndim == 1


def _taps(kernel: np.ndarray) -> Taps:
    return Taps(
        {name: tap_rms(kernel, taps) for name, taps in TAP_GROUPS.items()},
        (kernel.astype(np.float64) ** 2).mean(axis=(0, 1)),
    )


def _cached_statistics(trial: TrialResult, cache: Path | None) -> WeightStatistics:
    """From the snapshot, or as kept in `cache`: a report over many nets would read gigabytes for a few numbers of
    each."""
    place = cache / f"{trial.id}.weights" if cache else None
    inputs = code("reports.weights.layers", "reports.weights.statistics"), weights_stamp(trial)
    return _unpacked(cached(place, inputs, lambda: _packed(weight_statistics(snapshot_weights(last_snapshot(trial))))))


def _packed(statistics: WeightStatistics) -> bytes:
    slopes = {layer: values.tolist() for layer, values in statistics.slopes.items()}
    return json.dumps(
        {
            "slopes": slopes,
            "taps": {layer: [dict(taps.rms), taps.squares.tolist()] for layer, taps in statistics.taps.items()},
        }
    ).encode()


def _unpacked(data: bytes) -> WeightStatistics:
    tree = json.loads(data)
    slopes = {layer: np.array(values, np.float32) for layer, values in tree["slopes"].items()}
    return WeightStatistics(
        slopes, {layer: Taps(rms, np.array(squares)) for layer, (rms, squares) in tree["taps"].items()}
    )


def published_inspections(registry: Registry) -> list[PublishedInspection]:
    """What the documents show of their nets."""
    return [each.looks for each in registry.published.values() if each.looks is not None]


def short_name(layer: str) -> str:
    """`block 1 slopes1`, `head.pooled`: a layer's name as a label."""
    block = re.match(r"blocks\.(\d+)\.(.*)", layer)
    return f"block {block[1]} {block[2].removesuffix('.kernel')}" if block else layer.removesuffix(".slopes")
