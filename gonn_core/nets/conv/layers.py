"""Layers of the plain convolutional nets: convolutions and full layers, their weights free or tied (spec: other systems
1.4, 2.3, 2.4).

A tied layer starts from the numbers that the untied one has in the first cell of each orbit, under the same name.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.conv.tied import Orbits, pair_symmetries, symmetries
from gonn_core.nets.init import parameter

PUBLISHED_PLANES = 21
"""Planes that the fan-in of the first layer counts, whatever the number of planes present: dropping one leaves the
others' weights."""

NORMAL_DEVIATION = 0.01
"""Of `init: normal` (spec: other systems 2.6)."""

CUT_DEVIATION = 0.8796256610342398
"""Standard deviation of a normal draw cut at 2 sigma, as all draws are here: `normal` makes up for it, so that its
weights have 0.01."""


def drawn(
    draws, net: NetConfig, name: str, rows: int, columns: int, cells: int, planes: Sequence[str] | None = None
) -> np.ndarray:
    """Initial weights (rows, columns, cells) as `net.conv.init` says; `planes`: names of the columns, where they are
    the input planes."""
    fan_in = cells * (columns if planes is None else PUBLISHED_PLANES)
    counted = {"he": fan_in, "fan_in": 2 * fan_in, "normal": 2 * (CUT_DEVIATION / NORMAL_DEVIATION) ** 2}[net.conv.init]
    if planes is None:
        return draws.he(name, (rows, columns, cells), counted)
    return np.stack([draws.he(name, (rows, cells), counted, plane) for plane in planes], 1)


class Convolution(nn.Module):
    """(N, columns, s, s) -> (N, rows, side, side), zeros beyond the edge for `padding` points; a bias a channel, or at
    each point.

    Untied: kernel (rows, columns, k, k), bias (rows,) or (rows, side, side). Tied: one number an orbit in place of the
    last two dimensions.
    """

    def __init__(
        self,
        draws,
        name: str,
        net: NetConfig,
        columns: int,
        rows: int,
        size: int,
        side: int,
        padding: int,
        point_bias: bool,
        planes=None,
    ):
        super().__init__()
        self.padding, self.point_bias, self.size, self.side = padding, point_bias, size, side
        self.per_point = rows * columns * size**2
        kernel = drawn(draws, net, f"{name}.kernel", rows, columns, size**2, planes)
        self.taps = self.points = None
        if net.conv.tied:
            self.taps = Orbits(symmetries(size))
            kernel = kernel[:, :, self.taps.first]
            self.points = Orbits(symmetries(side)) if point_bias else None
        self.kernel = parameter(kernel if net.conv.tied else kernel.reshape(rows, columns, size, size))
        shape = () if not point_bias else (side, side) if self.points is None else (len(self.points),)
        self.bias = parameter(np.zeros((rows, *shape)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kernel = self.kernel
        if self.taps is not None:
            kernel = self.taps.spread(kernel, 2).unflatten(2, (self.size, self.size))
        if not self.point_bias:
            return F.conv2d(x, kernel, self.bias, padding=self.padding)
        y = F.conv2d(x, kernel, padding=self.padding)
        bias = (
            self.bias if self.points is None else self.points.spread(self.bias, 1).unflatten(1, (self.side, self.side))
        )
        return y + bias.to(y.dtype)

    def multiply_adds(self) -> int:
        """A full kernel at each point of what comes out."""
        return self.side**2 * self.per_point


class FullLayer(nn.Module):
    """(N, columns, s, s) -> `units` numbers, each from all inputs: (N, units, 1, 1), or tied as maps (N, units/361, 19,
    19).

    Untied: matrix (units, s², columns), bias (units,). Tied: unit j * maps + m is point j of map m; the weight from
    input (i, c) to it is that from (g i, c) to (g j, m), so matrix (orbits of pairs (j, i), maps, columns), bias
    (orbits of points, maps).
    """

    def __init__(self, draws, name: str, net: NetConfig, columns: int, units: int, side: int, planes=None):
        super().__init__()
        cells, maps = side**2, units // POINTS
        self.units, self.maps = units, maps
        self.weights = units * columns * cells
        matrix = drawn(draws, net, f"{name}.matrix", units, columns, cells, planes)
        self.pairs = self.points = None
        if net.conv.tied:
            self.pairs, self.points = Orbits(pair_symmetries(SIZE, side)), Orbits(symmetries(SIZE))
            outputs, inputs = np.divmod(self.pairs.first, cells)
            self.matrix = parameter(matrix.reshape(POINTS, maps, columns, cells)[outputs, :, :, inputs])
            self.bias = parameter(np.zeros((len(self.points), maps)))
        else:
            self.matrix = parameter(matrix.transpose(0, 2, 1))
            self.bias = parameter(np.zeros(units))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        flat = x.permute(0, 2, 3, 1).flatten(
            1
        )  # points before channels: what an orbit's weights are gathered by lies together
        if self.pairs is None:
            return F.linear(flat, self.matrix.flatten(1), self.bias)[:, :, None, None]
        matrix = self.pairs.spread(self.matrix, 0).unflatten(0, (POINTS, -1)).transpose(1, 2).reshape(self.units, -1)
        y = F.linear(flat, matrix, self.points.spread(self.bias, 0).flatten())
        return y.view(-1, POINTS, self.maps).mT.unflatten(2, (SIZE, SIZE))

    def multiply_adds(self) -> int:
        """Every weight once, tied or not."""
        return self.weights
