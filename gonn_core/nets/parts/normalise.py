"""Normalised planes as part of a net: shift and scale are its buffers, so that checkpoints, snapshots, evaluation and
play carry them.

A family's `body` reads its planes through `normalised`; whoever reads stones from planes (chain pooling) reads the raw
ones.
"""

import torch
from torch import nn

from gonn_core.features.normalisation import measured
from gonn_core.features.sets import Features
from gonn_core.features.source import Source


class Normalise(nn.Module):
    """(planes - shift) * scale; buffers `shift` and `scale` (C, 1, 1) float32. The identity until they are set."""

    def __init__(self, planes: int):
        super().__init__()
        self.register_buffer("shift", torch.zeros(planes, 1, 1))
        self.register_buffer("scale", torch.ones(planes, 1, 1))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return (planes - self.shift) * self.scale


def normalised(net: nn.Module, planes: torch.Tensor) -> torch.Tensor:
    """Planes (N, C, 19, 19) as the first layer of `net` is to see them: as they are unless it has a `normalise`."""
    return net.normalise(planes) if hasattr(net, "normalise") else planes


@torch.no_grad()
def set_normalisation(net: nn.Module, features: Features, source: Source, rows) -> None:
    """Set shift and scale of a new net from the training positions at `rows` of a store; nothing where planes are not
    normalised.

    Measured on the evenly spaced sample of `features.normalisation.measured`: the same rows give the same bits.
    """
    if features.normalisation == "none":
        return
    affine = measured(features, source, rows)
    net.normalise.shift.copy_(torch.from_numpy(affine.shift)[:, None, None])
    net.normalise.scale.copy_(torch.from_numpy(affine.scale)[:, None, None])
