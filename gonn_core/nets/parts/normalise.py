"""Normalised planes as part of a net: shift and scale are its buffers, so that checkpoints, snapshots, evaluation and
play carry them.

A family's `body` reads its planes through `PolicyNet.normalised`; whoever reads stones from planes (chain pooling)
reads the raw ones.
"""

import torch
from torch import nn

from gonn_core.features.normalisation import measured
from gonn_core.features.source import PlaneSource
from gonn_core.settings.features import FeatureConfig


class Normalise(nn.Module):
    """(planes - shift) * scale; buffers `shift` and `scale` (C, 1, 1) float32. The identity until they are set."""

    shift: torch.Tensor
    scale: torch.Tensor

    def __init__(self, planes: int):
        super().__init__()
        self.register_buffer("shift", torch.zeros(planes, 1, 1))
        self.register_buffer("scale", torch.ones(planes, 1, 1))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return (planes - self.shift) * self.scale

    @torch.no_grad()
    def measure(self, features: FeatureConfig, source: PlaneSource, rows) -> None:
        """Set shift and scale from the training positions at `rows` of a store.

        Measured on the evenly spaced sample of `features.normalisation.measured`: the same rows give the same bits.
        """
        affine = measured(features, source, rows)
        self.shift.copy_(torch.from_numpy(affine.shift)[:, None, None])
        self.scale.copy_(torch.from_numpy(affine.scale)[:, None, None])
