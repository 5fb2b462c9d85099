"""A number for each head and pair of points: one of its own, or one for each offset from point to point (spec: other
systems 3.5)."""

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from gonn_core.go.points import POINTS, SIZE

OFFSETS = 2 * SIZE - 1
"""Offsets along one axis: -18 … 18."""


def table(form: str, heads: int, start: float) -> nn.Parameter:
    """Trainable numbers, all equal at start: (heads, 37, 37) for "relative", (heads, 361, 361) for "absolute"."""
    return nn.Parameter(torch.full((heads, OFFSETS, OFFSETS) if form == "relative" else (heads, POINTS, POINTS), start))


def table_at_pairs(values: torch.Tensor) -> torch.Tensor:
    """A `table` of either form -> (heads, 361, 361): [h, from, to]."""
    return values if values.shape[-1] == POINTS else offsets_at_pairs(values)


def offsets_at_pairs(values: torch.Tensor) -> torch.Tensor:
    """(…, 37, 37), by row and column offset + 18 -> (…, 361, 361): [from, to] is the value at the offset (to -
    from)."""
    return _Windows.apply(values)


class _Windows(torch.autograd.Function):
    """`offsets_at_pairs`: from a point, all offsets that stay on the board are a 19x19 window of the 37x37 values.

    In two steps of slices, columns before rows: three times as fast on a CPU as an index per pair, and the gradient is
    summed in one order on every device.
    """

    @staticmethod
    def forward(ctx, values):
        lead = values.shape[:-2]
        columns = values.unfold(-1, SIZE, 1).flip(-2)  # (…, row offset, from column, to column)
        pairs = values.new_empty(*lead, SIZE, SIZE, SIZE, SIZE)  # from row, from column, to row, to column
        for row in range(SIZE):
            pairs[..., row, :, :, :] = columns.narrow(-3, SIZE - 1 - row, SIZE).transpose(-3, -2)
        return pairs.reshape(*lead, POINTS, POINTS)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        lead = grad.shape[:-2]
        pairs = grad.reshape(*lead, SIZE, SIZE, SIZE, SIZE)
        columns = grad.new_zeros(*lead, OFFSETS, SIZE, SIZE)
        for row in range(SIZE):
            columns.narrow(-3, SIZE - 1 - row, SIZE).add_(pairs[..., row, :, :, :].transpose(-3, -2))
        values = grad.new_zeros(*lead, OFFSETS, OFFSETS)
        for column in range(SIZE):
            values.narrow(-1, SIZE - 1 - column, SIZE).add_(columns[..., column, :])
        return values
