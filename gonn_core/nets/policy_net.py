"""What every family's net is: the contract between nets and the code that trains, evaluates or plays them.

A net may normalise its planes: shifted and scaled to mean 0 and deviation 1 over positions and points (spec: other
systems 1.3). Planes are 0/1, so a mean says all: the variance is m(1-m). A plane that is the same on every point of
every position (ones, zeros, the edge) is left as it is: centred, it would be the zero that is beyond the edge. Padding
is zero *after* the normalisation, so that what is off the board looks like a plane's mean.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from gonn_core.features.gonn import HISTORY
from gonn_core.features.planes import make_planes
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import PlaneSource
from gonn_core.go.points import POINTS
from gonn_core.nets.auxiliary import AuxiliaryHeads
from gonn_core.settings.features import FeatureConfig

SAMPLE = 16_384
"""At most so many positions are looked at to measure means: the k-th of n evenly spaced ones of r is row k*r//n."""
LARGEST_SCALE = 10.0
"""Planes that are nearly always empty are not blown up further than this."""


class Affine(NamedTuple):
    """What is fed to a net: (planes - shift) * scale, both (C,) float32."""

    shift: np.ndarray
    scale: np.ndarray


def measured(features: FeatureConfig, source: PlaneSource, rows) -> Affine:
    """Shift and scale for `features.normalisation` (grand or per_plane), from an evenly spaced sample of the positions
    at `rows`. Raises ValueError."""
    count = min(SAMPLE, len(rows))
    means = plane_means(features, source, rows[np.arange(count) * len(rows) // max(count, 1)])
    return {"grand": grand, "per_plane": per_plane}[features.normalisation](means)


def plane_means(features: FeatureConfig, source: PlaneSource, rows, batch: int = 256) -> np.ndarray:
    """(C,) float64: share of ones in each chosen plane over the positions at `rows`, whole histories shown. Raises
    ValueError for no rows."""
    rows = np.asarray(rows, np.int64)
    if not len(rows):
        raise ValueError("means of planes need positions")
    ones = np.zeros(len(computed_planes(features)), np.int64)
    for first in range(0, len(rows), batch):
        some = rows[first : first + batch]
        planes, targets = np.empty((len(some), len(ones), POINTS), np.uint8), np.empty(len(some), np.int64)
        unturned, keep = np.zeros(len(some), np.uint8), np.full(len(some), HISTORY, np.uint8)
        make_planes(features, source, some, unturned, keep, planes, targets)
        ones += planes.sum((0, 2), dtype=np.int64)
    return (ones / (len(rows) * POINTS))[plane_indices(features)]


def per_plane(means: np.ndarray) -> Affine:
    """Each plane by its own mean and min(1/deviation, 10); constant planes untouched."""
    constant = (means == 0) | (means == 1)
    deviations = np.sqrt(means * (1 - means))
    scale = np.minimum(1 / np.where(constant, 1, deviations), LARGEST_SCALE)
    return Affine(np.where(constant, 0, means).astype(np.float32), np.where(constant, 1, scale).astype(np.float32))


def grand(means: np.ndarray) -> Affine:
    """All planes by one mean and one deviation, constant planes included. Raises ValueError where all planes are the
    same constant."""
    mean = means.mean()
    deviation = np.sqrt(mean * (1 - mean))
    if deviation == 0:
        raise ValueError("all planes are constant and the same: they have no scale")
    return Affine(
        np.full(len(means), mean, np.float32), np.full(len(means), min(1 / deviation, LARGEST_SCALE), np.float32)
    )


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

        Measured on the evenly spaced sample of `measured`: the same rows give the same bits.
        """
        affine = measured(features, source, rows)
        self.shift.copy_(torch.from_numpy(affine.shift)[:, None, None])
        self.scale.copy_(torch.from_numpy(affine.scale)[:, None, None])


class PolicyNet(nn.Module):
    """Planes (N, C, 19, 19) float -> logits (N, 361) float32 of the next move: no pass, no legality mask.

    A family is made from (net, plane_names, draws, beyond_edge), as `registry.build_net` says, and has `body_width`,
    `body` and `policies`. Its `body` reads the planes through `normalised`, and pads them, if it pads its input, after
    that.
    """

    body_width: int
    """Channels of `body`."""

    def __init__(self, plane_names: Sequence[str]):
        """plane_names says what each of the C planes is. Raises ValueError when there are none, or the same twice."""
        super().__init__()
        self.plane_names = tuple(plane_names)
        if not self.plane_names or len(set(self.plane_names)) != len(self.plane_names):
            raise ValueError(f"plane names must be given and distinct: {self.plane_names}")
        self.normalise: Normalise | None = None  # both are set by `registry.trial_net`, where a trial has them
        self.auxiliary: AuxiliaryHeads | None = None

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """The first of the policies of the body."""
        return self.policies(self.body(planes))[:, 0]

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> what the policies and the auxiliary heads read (N, body_width, 19, 19)."""
        raise NotImplementedError

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Body -> logits (N, K, 361) float32: the next move and, where a family predicts them, the moves after it."""
        raise NotImplementedError

    def normalised(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes as the first layer is to see them."""
        return planes if self.normalise is None else self.normalise(planes)
