"""Weights that are equal under the 8 symmetries of the board (spec: other systems 2.4).

Cells that the symmetries carry into each other form an orbit; a tied tensor keeps one number for each. As published,
gradients are averaged over an orbit, not summed: a step of gradient descent then does to the tied weights what "step,
then average" does, and a learning rate means the same with and without tying. Nothing but gathering is needed in either
direction, so the bits are the same on every run.
"""

from functools import lru_cache

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable


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
