"""Batch normalisation per channel over batch and board, scale optional, shift always (spec: GoNN 2.1); and what stays
without it."""

from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

from gonn_core.config import NetConfig
from gonn_core.nets.init import Draws, constant, parameter
from gonn_core.nets.parts.fused import FusedNorm, Statistics, can_fuse
from gonn_core.nets.parts.mish import mish

Slopes = torch.nn.Parameter | Literal["mish"] | None
"""Of what follows a norm: slopes (channels,) for negative inputs; None: plain ReLU."""


def make_slopes(net: NetConfig, channels: int) -> Slopes:
    """What `net.activation` asks for."""
    if net.activation == "mish":
        return "mish"
    return constant(channels, net.prelu_init) if net.activation == "prelu" else None


def activate(x: torch.Tensor, slopes: torch.Tensor | str | None) -> torch.Tensor:
    """x where positive, elsewhere slopes * x (0 without slopes), per channel of x (N, C, H, W); of x's type, whatever
    autocast's. With "mish" x tanh(softplus(x)).

    Torch's own PReLU on a GPU, where its backward pass is the faster one; there a bfloat16 x rounds the slopes and
    their gradient. Operations that a compiler can fuse while it traces.
    """
    if slopes is None:
        return F.relu(x)
    if isinstance(slopes, str):
        return mish(x)
    if torch.compiler.is_compiling():
        wide = x.float()
        return torch.where(wide > 0, wide, slopes.view(1, -1, 1, 1) * wide).to(x.dtype)
    with torch.autocast(x.device.type, enabled=False):
        return PReLU.apply(x, slopes) if x.device.type == "cpu" else torch.prelu(x, slopes.to(x.dtype))


class PReLU(torch.autograd.Function):
    """`F.prelu(x, slopes)` with a backward pass that is ten times faster on a CPU.

    PyTorch's backward selects element by element and materialises the slopes' gradient at every point; that would make
    a net with PReLU look twice as expensive as one with ReLU. Here it is four plain passes over memory and one sum. The
    forward pass is PyTorch's. Slopes stay float32 under autocast: x may be bfloat16, their gradient is summed in
    float32.
    """

    @staticmethod
    def forward(ctx, x, slopes):
        ctx.save_for_backward(x, slopes)
        return torch.prelu(x, slopes.to(x.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, slopes = ctx.saved_tensors
        grad_x = torch.ops.aten.threshold_backward(grad, x, 0)  # grad where x > 0, else 0
        negative = grad - grad_x  # grad where x <= 0, else 0
        grad_x.addcmul_(negative, slopes.to(x.dtype).view(1, -1, 1, 1))
        grad_slopes = negative.mul_(x).sum((0, 2, 3), dtype=torch.float32)
        return grad_x, grad_slopes.to(slopes.dtype)


EPSILON = 1e-3
MOMENTUM = 0.01
"""Weight of the newest batch in the running statistics (TensorFlow calls this momentum 0.99)."""


class BatchNorm(nn.Module):
    """y = gamma * (x - mean) / sqrt(variance + 0.001) + beta on (N, C, 19, 19); with `gamma` False there is no gamma to
    train."""

    mean: torch.Tensor
    variance: torch.Tensor
    unit: torch.Tensor | None

    def __init__(self, channels: int, gamma: bool):
        super().__init__()
        self.gamma = constant(channels, 1.0) if gamma else None
        self.beta = constant(channels, 0.0)
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        # cuDNN's kernel wants a scale; a constant one, which no checkpoint needs to hold
        self.register_buffer("unit", None if gamma else torch.ones(channels), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if can_fuse(x):
            return self.fused(x, None, 1.0)
        scale = self.unit if self.gamma is None else self.gamma
        return F.batch_norm(x, self.mean, self.variance, scale, self.beta, self.training, MOMENTUM, EPSILON)

    def fused(self, x: torch.Tensor, slopes: torch.Tensor | None, rest: float) -> torch.Tensor:
        """With the activation that `FusedNorm` says, for x that `can_fuse` takes."""
        statistics = Statistics(self.mean, self.variance, self.training, MOMENTUM, EPSILON)
        return FusedNorm.apply(x, self.gamma, self.beta, slopes, rest, statistics)


class ScaleAndShift(nn.Module):
    """y = gamma * x + beta on (N, C, 19, 19), as a norm that normalises nothing; with `gamma` False y = x + beta.

    The parameters have the norm's names, so that all else in a net starts and decays as with it.
    """

    def __init__(self, channels: int, gamma: bool):
        super().__init__()
        self.gamma = constant(channels, 1.0) if gamma else None
        self.beta = constant(channels, 0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        beta = self.beta.view(1, -1, 1, 1).to(x.dtype)
        return x + beta if self.gamma is None else x * self.gamma.view(1, -1, 1, 1).to(x.dtype) + beta


def make_norm(net: NetConfig, channels: int) -> nn.Module:
    """What `net.norm` and `net.norm_gamma` ask for, wherever the gonn family normalises."""
    return (BatchNorm if net.norm == "batch" else ScaleAndShift)(channels, net.norm_gamma)


def normed_activation(norm: nn.Module, x: torch.Tensor, slopes: torch.Tensor | str | None) -> torch.Tensor:
    """`activate(norm(x), slopes)`, in one pass over memory where x is bfloat16 on a CPU, but for Mish."""
    if isinstance(norm, BatchNorm) and not isinstance(slopes, str) and can_fuse(x):
        return norm.fused(x, slopes, 0.0)
    return activate(norm(x), slopes)


class NormedActivation(nn.Module):
    """Norm and activation, (N, C, 19, 19) -> the same shape."""

    def __init__(self, norm: nn.Module, slopes: Slopes):
        super().__init__()
        self.norm, self.slopes = norm, slopes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return normed_activation(self.norm, x, self.slopes)


def make_normed_activation(net: NetConfig, channels: int) -> NormedActivation:
    """What `net.norm` and `net.activation` ask for."""
    return NormedActivation(make_norm(net, channels), make_slopes(net, channels))


STATISTICS = {
    "none": (),
    "mean": ("mean",),
    "max": ("max",),
    "mean_max": ("mean", "max"),
    "mean_max_stdev": ("mean", "max", "stdev"),
}
"""Statistics of each `net.head.pooling`, in the order of the matrix's columns."""

STDEV_FLOOR = 1e-4
"""Added to the variance under the root, so that a constant channel has a gradient."""


def pool_board(x: torch.Tensor, statistics: tuple[str, ...]) -> torch.Tensor:
    """(N, C, 19, 19) -> (N, len(statistics) * C): each statistic of all channels in turn, over all 361 points, in
    float32.

    mean; max (its gradient is shared among ties); stdev = sqrt(population variance + 1e-4).
    """
    x = x.float()  # also far faster than a bfloat16 reduction on a CPU
    board = (2, 3)
    functions = {
        "mean": lambda: x.mean(board),
        "max": lambda: x.amax(board),
        "stdev": lambda: (x.var(board, correction=0) + STDEV_FLOOR).sqrt(),
    }
    return torch.cat([functions[statistic]() for statistic in statistics], 1)


class PooledBias(nn.Module):
    """Norm and activation, statistics over the board, and a matrix (no bias) that makes of them one number per output
    channel.

    (N, in_channels, 19, 19) -> (N, out_channels, 1, 1), to be added at every point. `name` is the parameters' prefix.
    The matrix starts as `scale` times a He draw with `fan_in`; its columns are drawn per statistic, so adding one
    leaves the others as they are.
    """

    def __init__(
        self,
        draws: Draws,
        name: str,
        net: NetConfig,
        *,
        statistics: tuple[str, ...],
        in_channels: int,
        out_channels: int,
        fan_in: int,
        scale: float,
    ):
        super().__init__()
        self.statistics = statistics
        self.norm = make_norm(net, in_channels)
        self.slopes = make_slopes(net, in_channels)
        columns = [
            scale * draws.he(f"{name}.matrix", (out_channels, in_channels), fan_in, statistic)
            for statistic in statistics
        ]
        self.matrix = parameter(np.concatenate(columns, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(pool_board(self.channels(x), self.statistics), self.matrix)[:, :, None, None]

    def channels(self, x: torch.Tensor) -> torch.Tensor:
        """(N, in_channels, 19, 19) what is pooled."""
        return normed_activation(self.norm, x, self.slopes)
