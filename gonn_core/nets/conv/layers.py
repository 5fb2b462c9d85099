"""Layers of the plain convolutional nets: convolutions and full layers, their weights free or tied (spec: other systems
1.4, 2.3, 2.4).

A tied layer starts from the numbers that the untied one has in the first cell of each orbit, under the same name.

Weights that are equal under the 8 symmetries of the board (spec: other systems 2.4).

Cells that the symmetries carry into each other form an orbit; a tied tensor keeps one number for each. As published,
gradients are averaged over an orbit, not summed: a step of gradient descent then does to the tied weights what "step,
then average" does, and a learning rate means the same with and without tying. Nothing but gathering is needed in either
direction, so the bits are the same on every run.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

from gonn_core.config import NetConfig
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.init import TRUNCATED_DEVIATION, Draws, parameter


@lru_cache(64)
def symmetries(side: int) -> np.ndarray:
    """(8, side*side) int64: where each cell of a square goes. Bit 0 flips rows, bit 1 flips columns, bit 2 then
    transposes."""
    cells = np.arange(side * side).reshape(side, side)
    images = []
    for symmetry in range(8):
        image = cells.T if symmetry & 4 else cells
        image = image[::-1] if symmetry & 1 else image
        images.append((image[:, ::-1] if symmetry & 2 else image).ravel())
    return np.stack(images)


def pair_symmetries(first: int, second: int) -> np.ndarray:
    """(8, first² second²): where each pair of a cell of one square and a cell of another goes when both boards are
    turned; row-major."""
    return (symmetries(first)[:, :, None] * second**2 + symmetries(second)[:, None, :]).reshape(8, -1)


class Orbits(nn.Module):
    """The orbits of cells under `images` (8, cells): an orbit's number is its place among the orbits' first cells.

    first: (orbits,) each orbit's first cell. `spread` makes a tensor over cells from one over orbits.
    """

    index: torch.Tensor
    images: torch.Tensor

    def __init__(self, images: np.ndarray):
        super().__init__()
        self.first, index = np.unique(images.min(0), return_inverse=True)
        self.register_buffer("index", torch.from_numpy(index), persistent=False)
        self.register_buffer("images", torch.from_numpy(images[:, self.first]), persistent=False)

    def __len__(self) -> int:
        return len(self.first)

    def spread(self, values: torch.Tensor, dim: int) -> torch.Tensor:
        """`values` with its orbits along `dim` replaced by the cells; backwards an orbit has the mean of its cells'
        gradients."""
        return _Spread.apply(values, self.index, self.images, dim)


class _Spread(torch.autograd.Function):
    """Gather, and on the way back the mean over the 8 images of each orbit's first cell: every cell of an orbit equally
    often."""

    @staticmethod
    def forward(ctx, values, index, images, dim):
        ctx.images, ctx.dim = images, dim
        return values.index_select(dim, index)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        total = grad.index_select(ctx.dim, ctx.images[0])
        for image in ctx.images[1:]:
            total += grad.index_select(ctx.dim, image)
        return total.div_(len(ctx.images)), None, None, None


PUBLISHED_PLANES = 21
"""Planes that the fan-in of the first layer counts, whatever the number of planes present: dropping one leaves the
others' weights."""

NORMAL_DEVIATION = 0.01
"""Of the weights of `init: normal` (spec: other systems 2.6)."""


def drawn(
    draws: Draws,
    name: str,
    net: NetConfig,
    *,
    in_channels: int,
    out_channels: int,
    cells: int,
    planes: Sequence[str] | None,
) -> np.ndarray:
    """Initial weights (out_channels, in_channels, cells) as `net.conv.init` says; `planes`: names of what comes in,
    where that are the input planes."""
    fan_in = cells * (in_channels if planes is None else PUBLISHED_PLANES)
    normal = 2 * (TRUNCATED_DEVIATION / NORMAL_DEVIATION) ** 2
    counted = {"he": fan_in, "fan_in": 2 * fan_in, "normal": normal}[net.conv.init]
    if planes is None:
        return draws.he(name, (out_channels, in_channels, cells), counted)
    return np.stack([draws.he(name, (out_channels, cells), counted, plane) for plane in planes], 1)


class ConvLayer(nn.Module):
    """(N, in_channels, s, s) -> (N, out_channels, side, side), zeros beyond the edge for `padding` points; a bias a
    channel, or at each point.

    Untied: kernel (out_channels, in_channels, k, k), bias (out_channels,) or (out_channels, side, side). Tied: one
    number an orbit in place of the last two dimensions.
    """

    def __init__(
        self,
        draws: Draws,
        name: str,
        net: NetConfig,
        *,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        side: int,
        padding: int,
        point_bias: bool,
        planes: Sequence[str] | None = None,
    ):
        super().__init__()
        self.padding, self.point_bias, self.kernel_size, self.side = padding, point_bias, kernel_size, side
        self.per_point = out_channels * in_channels * kernel_size**2
        kernel = drawn(
            draws,
            f"{name}.kernel",
            net,
            in_channels=in_channels,
            out_channels=out_channels,
            cells=kernel_size**2,
            planes=planes,
        )
        self.taps: Orbits | None = None
        self.points: Orbits | None = None
        if net.conv.tied:
            self.taps = Orbits(symmetries(kernel_size))
            kernel = kernel[:, :, self.taps.first]
            self.points = Orbits(symmetries(side)) if point_bias else None
        else:
            kernel = kernel.reshape(out_channels, in_channels, kernel_size, kernel_size)
        self.kernel = parameter(kernel)
        places: tuple[int, ...] = ()
        if point_bias:
            places = (side, side) if self.points is None else (len(self.points),)
        self.bias = parameter(np.zeros((out_channels, *places)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kernel: torch.Tensor = self.kernel
        if self.taps is not None:
            kernel = self.taps.spread(kernel, 2).unflatten(2, (self.kernel_size, self.kernel_size))
        if not self.point_bias:
            return F.conv2d(x, kernel, self.bias, padding=self.padding)
        y = F.conv2d(x, kernel, padding=self.padding)
        bias: torch.Tensor = self.bias
        if self.points is not None:
            bias = self.points.spread(bias, 1).unflatten(1, (self.side, self.side))
        return y + bias.to(y.dtype)

    def multiply_adds(self) -> int:
        """A full kernel at each point of what comes out."""
        return self.side**2 * self.per_point


class FullLayer(nn.Module):
    """(N, in_channels, side, side) -> `units` numbers, each from all inputs: (N, units, 1, 1), or tied as maps
    (N, units/361, 19, 19).

    Untied: matrix (units, side², in_channels), bias (units,). Tied: unit j * maps + m is point j of map m; the weight
    from input (i, c) to it is that from (g i, c) to (g j, m), so matrix (orbits of pairs (j, i), maps, in_channels),
    bias (orbits of points, maps).
    """

    def __init__(
        self,
        draws: Draws,
        name: str,
        net: NetConfig,
        *,
        in_channels: int,
        units: int,
        side: int,
        planes: Sequence[str] | None = None,
    ):
        super().__init__()
        cells, maps = side**2, units // POINTS
        self.units, self.maps = units, maps
        self.weights = units * in_channels * cells
        matrix = drawn(
            draws, f"{name}.matrix", net, in_channels=in_channels, out_channels=units, cells=cells, planes=planes
        )
        self.pairs: Orbits | None = None
        self.points: Orbits | None = None
        if net.conv.tied:
            self.pairs, self.points = Orbits(pair_symmetries(SIZE, side)), Orbits(symmetries(SIZE))
            outputs, inputs = np.divmod(self.pairs.first, cells)
            self.matrix = parameter(matrix.reshape(POINTS, maps, in_channels, cells)[outputs, :, :, inputs])
            self.bias = parameter(np.zeros((len(self.points), maps)))
        else:
            self.matrix = parameter(matrix.transpose(0, 2, 1))
            self.bias = parameter(np.zeros(units))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # points before channels: what an orbit's weights are gathered by lies together
        flat = x.permute(0, 2, 3, 1).flatten(1)
        if self.pairs is None or self.points is None:
            return F.linear(flat, self.matrix.flatten(1), self.bias)[:, :, None, None]
        matrix = self.pairs.spread(self.matrix, 0).unflatten(0, (POINTS, -1)).transpose(1, 2).reshape(self.units, -1)
        y = F.linear(flat, matrix, self.points.spread(self.bias, 0).flatten())
        return y.view(-1, POINTS, self.maps).mT.unflatten(2, (SIZE, SIZE))

    def multiply_adds(self) -> int:
        """Every weight once, tied or not."""
        return self.weights
