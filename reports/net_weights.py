"""Trained weights of the nets behind a report, by layer from the stem to the head; and what the documents show of theirs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ablations.published_looks import PublishedLooks
from ablations.registry import Registry
from reports.book_nets import MeasuredNet
from reports.weight_statistics import Weights, last_snapshot, snapshot_weights

_PARTS = ("stem", "blocks", "trunk_end", "head", "output")


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


def published_looks(registry: Registry) -> list[PublishedLooks]:
    """What the documents show of their nets."""
    return [each.looks for each in registry.published.values() if each.looks is not None]


def short_name(layer: str) -> str:
    """`block 1 slopes1`, `head.pooled`: a layer's name as a label."""
    block = re.match(r"blocks\.(\d+)\.(.*)", layer)
    return f"block {block[1]} {block[2].removesuffix('.kernel')}" if block else layer.removesuffix(".slopes")
