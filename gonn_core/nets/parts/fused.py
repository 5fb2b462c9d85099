"""Batch normalisation and activation of bfloat16 on a CPU: one autograd function over numba kernels.

Made of torch's own operations, a normalised and activated layer goes through memory some fifteen times a step; that is
more than half of a bfloat16 step on a processor that multiplies bfloat16 matrices in hardware. Here it is four times.
Between norm and activation nothing is rounded to bfloat16.

For the kernels an image batch is (rows, channels): rows = positions times points, channels next to each other in
memory, bfloat16 as uint16. All arithmetic is in float32, sums of a block of rows too; sums over blocks are in float64.
The compiler reorders no operation, so every processor gives the same bits.

This file is not part of the hash that names the kernel cache (go/jit.py): no other file's kernel calls these, and numba
compares the file itself.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from gonn_core.go.jit import inlined, kernel

BLOCK = 128
"""Rows that are summed in float32 before they are added to the float64 totals."""


@inlined
def widened(half):
    """bfloat16 (uint16) -> the float32 of the same value."""
    return np.uint32(np.uint32(half) << np.uint32(16)).view(np.float32)


@inlined
def rounded(number):
    """float32 -> the nearest bfloat16 (uint16), of two the even one; what is no number stays none."""
    bits = np.float32(number).view(np.uint32)
    return np.uint16((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))


@kernel
def moments(x, shift, mean, variance):
    """Mean and (biased) variance of each channel of x (rows, channels) bfloat16, into float32 arrays (channels,).

    shift (channels,) float32: numbers near the means; sums are of what is left, so that a large mean costs no digits.
    """
    rows, channels = x.shape
    totals = np.zeros((2, channels), np.float64)
    first, second = np.empty(channels, np.float32), np.empty(channels, np.float32)
    for start in range(0, rows, BLOCK):
        first[:] = 0
        second[:] = 0
        end = min(start + BLOCK, rows)
        for row in range(start, end):
            for c in range(channels):
                value = widened(x[row, c]) - shift[c]
                first[c] += value
                second[c] += value * value
        for c in range(channels):
            totals[0, c] += first[c]
            totals[1, c] += second[c]
    for c in range(channels):
        offset = totals[0, c] / rows
        mean[c] = np.float32(shift[c] + offset)
        variance[c] = np.float32(max(totals[1, c] / rows - offset * offset, 0.0))


@kernel
def normalise(x, scale, offset, slopes, y):
    """y = act(scale * x + offset), with act(z) = z where z > 0, else slopes * z; x, y (rows, channels) bfloat16, the
    others (channels,) float32."""
    rows, channels = x.shape
    for row in range(rows):
        for c in range(channels):
            z = widened(x[row, c]) * scale[c] + offset[c]
            y[row, c] = rounded(z if z > 0 else slopes[c] * z)


@kernel
def gradient_sums(grad, x, scale, offset, slopes, mean, sums):
    """Sums over the rows that the gradients need, into sums (3, channels) float64: of dz, of dz * (x - mean) and of
    grad * z where z <= 0; z = scale * x + offset, dz = grad where z > 0, else slopes * grad."""
    rows, channels = x.shape
    sums[:] = 0
    first, second, third = (
        np.empty(channels, np.float32),
        np.empty(channels, np.float32),
        np.empty(channels, np.float32),
    )
    zero = np.float32(0)
    for start in range(0, rows, BLOCK):
        first[:] = 0
        second[:] = 0
        third[:] = 0
        end = min(start + BLOCK, rows)
        for row in range(start, end):
            for c in range(channels):
                value, g = widened(x[row, c]), widened(grad[row, c])
                z = value * scale[c] + offset[c]
                above = z > 0
                dz = g if above else slopes[c] * g
                first[c] += dz
                second[c] += dz * (value - mean[c])
                third[c] += zero if above else g * z
        for c in range(channels):
            sums[0, c] += first[c]
            sums[1, c] += second[c]
            sums[2, c] += third[c]


@kernel
def input_gradient(grad, x, scale, offset, slopes, mean, constant, factor, out):
    """out = scale * dz - constant - factor * (x - mean), (rows, channels) bfloat16, with dz as in `gradient_sums`."""
    rows, channels = x.shape
    for row in range(rows):
        for c in range(channels):
            value, g = widened(x[row, c]), widened(grad[row, c])
            z = value * scale[c] + offset[c]
            dz = g if z > 0 else slopes[c] * g
            out[row, c] = rounded(scale[c] * dz - constant[c] - factor[c] * (value - mean[c]))


class Statistics(NamedTuple):
    """The running mean and variance (channels,) float32 of a norm, and what it computes with them.

    In training they are updated in place and the batch's own are used; else they are used themselves. momentum: weight
    of the newest batch.
    """

    mean: torch.Tensor
    variance: torch.Tensor
    training: bool
    momentum: float
    epsilon: float


def can_fuse(x: torch.Tensor) -> bool:
    """Whether `FusedNorm` takes x: plain bfloat16 (N, C, H, W) on a CPU, channels next to each other in memory, while
    nothing is traced."""
    return is_plain(x, torch.bfloat16) and x.is_contiguous(memory_format=torch.channels_last)


def is_plain(x: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether a kernel can take x: of this type, on a CPU, while nothing is traced."""
    real = type(x) is torch.Tensor  # no simulated tensor
    return real and x.dtype == dtype and x.device.type == "cpu" and not torch.compiler.is_compiling()


class FusedNorm(torch.autograd.Function):
    """act(gamma * (x - mean) / sqrt(variance + epsilon) + beta) for x (N, C, H, W) bfloat16 -> the same shape.

    gamma, slopes (C,) float32 or None; beta (C,) float32. act: z where z > 0, else slopes * z; slopes None: `rest` * z,
    so that 0 is ReLU and 1 is no activation.
    """

    @staticmethod
    def forward(ctx, x, gamma, beta, slopes, rest: float, statistics: Statistics):
        rows = _rows(x)
        used = np.full(len(beta), rest, np.float32) if slopes is None else slopes.detach().numpy()
        if statistics.training:
            mean, variance = np.empty((2, len(beta)), np.float32)
            moments(rows, statistics.mean.numpy(), mean, variance)
            _follow(statistics, mean, variance * (len(rows) / max(len(rows) - 1, 1)))
        else:
            mean, variance = statistics.mean.numpy(), statistics.variance.numpy()
        inverse = 1 / np.sqrt(variance + np.float32(statistics.epsilon))
        scale = inverse if gamma is None else gamma.detach().numpy() * inverse
        offset = beta.detach().numpy() - mean * scale
        y = torch.empty_like(x)
        normalise(rows, scale, offset, used, _rows(y))
        ctx.save_for_backward(x)
        ctx.of_channels = mean.copy(), inverse, scale, offset, used.copy()
        ctx.has_gamma, ctx.has_slopes, ctx.training = gamma is not None, slopes is not None, statistics.training
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        mean, inverse, scale, offset, slopes = ctx.of_channels
        grad = grad.contiguous(memory_format=torch.channels_last)
        rows, grad_rows = _rows(x), _rows(grad)
        sums = np.empty((3, len(mean)))
        gradient_sums(grad_rows, rows, scale, offset, slopes, mean, sums)
        of_beta, of_gamma = sums[0], sums[1] * inverse
        constant, factor = np.zeros((2, len(mean)), np.float32)
        if ctx.training:  # the batch's mean and variance depend on x too
            constant[:] = scale * of_beta / len(rows)
            factor[:] = scale * inverse * of_gamma / len(rows)
        grad_x = torch.empty_like(x)
        input_gradient(grad_rows, rows, scale, offset, slopes, mean, constant, factor, _rows(grad_x))
        return (
            grad_x,
            torch.from_numpy(of_gamma.astype(np.float32)) if ctx.has_gamma else None,
            torch.from_numpy(of_beta.astype(np.float32)),
            torch.from_numpy(sums[2].astype(np.float32)) if ctx.has_slopes else None,
            None,
            None,
        )


def warm_up() -> None:
    """Compile the kernels, or load them: one step of one position."""
    norm = Statistics(torch.zeros(1), torch.ones(1), True, 0.5, 1.0)
    x = torch.zeros(1, 1, 2, 2, dtype=torch.bfloat16, requires_grad=True)
    FusedNorm.apply(x, None, torch.zeros(1, requires_grad=True), None, 0.0, norm).backward(torch.ones_like(x))


def _rows(x: torch.Tensor) -> np.ndarray:
    """(N, C, H, W) bfloat16 -> its memory as (N*H*W, C) uint16."""
    rows = x.detach().permute(0, 2, 3, 1).reshape(-1, x.shape[1])
    return rows.view(torch.int16).numpy().view(np.uint16)


def _follow(statistics: Statistics, mean: np.ndarray, variance: np.ndarray) -> None:
    """Move the running statistics to the batch's, in place."""
    for running, newest in ((statistics.mean, mean), (statistics.variance, variance)):
        held = running.numpy()
        held += np.float32(statistics.momentum) * (newest.astype(np.float32) - held)
