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
import torch.nn.functional as F
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
    """What is fed to a net: (planes - shift) * scale, both (C,) float32; then, of whitened planes, matrix (C, C)
    float32 times that."""

    shift: np.ndarray
    scale: np.ndarray
    matrix: np.ndarray | None = None


def measured(features: FeatureConfig, source: PlaneSource, rows) -> Affine:
    """What `features.normalisation` asks for, from an evenly spaced sample of the positions at `rows`. Raises
    ValueError."""
    count = min(SAMPLE, len(rows))
    both = plane_moments(features, source, rows[np.arange(count) * len(rows) // max(count, 1)])
    if features.normalisation == "whitened":
        return whitened(both)
    return {"grand": grand, "per_plane": per_plane}[features.normalisation](np.diagonal(both))


def plane_moments(features: FeatureConfig, source: PlaneSource, rows, batch: int = 256) -> np.ndarray:
    """(C, C) float64: share of points at which two of the chosen planes are ones over the positions at `rows`, whole
    histories shown; on the diagonal the means. Raises ValueError for no rows."""
    rows = np.asarray(rows, np.int64)
    if not len(rows):
        raise ValueError("means of planes need positions")
    chosen = plane_indices(features)
    both = np.zeros((len(chosen), len(chosen)))
    for first in range(0, len(rows), batch):
        some = rows[first : first + batch]
        planes = np.empty((len(some), len(computed_planes(features)), POINTS), np.uint8)
        targets = np.empty(len(some), np.int64)
        unturned, keep = np.zeros(len(some), np.uint8), np.full(len(some), HISTORY, np.uint8)
        make_planes(features, source, some, unturned, keep, planes, targets)
        of_planes = planes[:, chosen].swapaxes(0, 1).reshape(len(chosen), -1).astype(np.float32)
        both += (of_planes @ of_planes.T).astype(np.float64)  # whole numbers below 2^24: exact
    return both / (len(rows) * POINTS)


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


def whitened(both: np.ndarray) -> Affine:
    """Planes without correlation at a point, of deviation 1, each as near to what it was as that allows (ZCA), from
    `plane_moments`; no combination of planes is scaled by more than 10, constant planes are untouched."""
    means = np.diagonal(both)
    varying = (means > 0) & (means < 1)
    variances, axes = np.linalg.eigh((both - np.outer(means, means))[np.ix_(varying, varying)])
    scales = 1 / np.sqrt(np.maximum(variances, LARGEST_SCALE**-2))
    matrix = np.eye(len(means))
    matrix[np.ix_(varying, varying)] = axes * scales @ axes.T
    shift = np.where(varying, means, 0).astype(np.float32)
    return Affine(shift, np.ones(len(means), np.float32), matrix.astype(np.float32))


class Normalise(nn.Module):
    """`Affine` as buffers: `shift` and `scale` (C, 1, 1), `matrix` (C, C, 1, 1) where planes are whitened. The identity
    until they are set."""

    shift: torch.Tensor
    scale: torch.Tensor
    matrix: torch.Tensor | None

    def __init__(self, planes: int, whitens: bool = False):
        super().__init__()
        self.register_buffer("shift", torch.zeros(planes, 1, 1))
        self.register_buffer("scale", torch.ones(planes, 1, 1))
        self.register_buffer("matrix", torch.eye(planes)[:, :, None, None] if whitens else None)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        scaled = (planes - self.shift) * self.scale
        return scaled if self.matrix is None else F.conv2d(scaled, self.matrix)

    @torch.no_grad()
    def measure(self, features: FeatureConfig, source: PlaneSource, rows) -> None:
        """Set the buffers from the training positions at `rows` of a store.

        Measured on the evenly spaced sample of `measured`: the same rows give the same bits.
        """
        affine = measured(features, source, rows)
        self.shift.copy_(torch.from_numpy(affine.shift)[:, None, None])
        self.scale.copy_(torch.from_numpy(affine.scale)[:, None, None])
        if self.matrix is not None and affine.matrix is not None:
            self.matrix.copy_(torch.from_numpy(affine.matrix)[:, :, None, None])


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
