"""Batch normalisation and activation of bfloat16 on a CPU: one autograd function over the kernels of `bf16_kernels`.

Made of torch's own operations, a normalised and activated layer goes through memory some fifteen times a step; that is
more than half of a bfloat16 step on a processor that multiplies bfloat16 matrices in hardware. Here it is four times.
Between norm and activation nothing is rounded to bfloat16.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from gonn_core.nets.parts import bf16_kernels


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
    return (
        x.dtype == torch.bfloat16
        and type(x) is torch.Tensor  # none that only pretends, as in a rehearsal
        and x.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and x.is_contiguous(memory_format=torch.channels_last)
    )


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
            bf16_kernels.moments(rows, statistics.mean.numpy(), mean, variance)
            _follow(statistics, mean, variance * (len(rows) / max(len(rows) - 1, 1)))
        else:
            mean, variance = statistics.mean.numpy(), statistics.variance.numpy()
        inverse = 1 / np.sqrt(variance + np.float32(statistics.epsilon))
        scale = inverse if gamma is None else gamma.detach().numpy() * inverse
        offset = beta.detach().numpy() - mean * scale
        y = torch.empty_like(x)
        bf16_kernels.normalise(rows, scale, offset, used, _rows(y))
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
        bf16_kernels.gradient_sums(grad_rows, rows, scale, offset, slopes, mean, sums)
        of_beta, of_gamma = sums[0], sums[1] * inverse
        constant, factor = np.zeros((2, len(mean)), np.float32)
        if ctx.training:  # the batch's mean and variance depend on x too
            constant[:] = scale * of_beta / len(rows)
            factor[:] = scale * inverse * of_gamma / len(rows)
        grad_x = torch.empty_like(x)
        bf16_kernels.input_gradient(grad_rows, rows, scale, offset, slopes, mean, constant, factor, _rows(grad_x))
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
