"""Batch normalisation per channel over batch and board, scale optional, shift always (spec: GoNN 2.1); and what stays
without it."""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.init import constant
from gonn_core.nets.parts.activations import activate
from gonn_core.nets.parts.fused import FusedNorm, Statistics, can_fuse

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


def normed_activation(norm: nn.Module, x: torch.Tensor, slopes: torch.Tensor | None) -> torch.Tensor:
    """`activate(norm(x), slopes)`, in one pass over memory where x is bfloat16 on a CPU."""
    if isinstance(norm, BatchNorm) and can_fuse(x):
        return norm.fused(x, slopes, 0.0)
    return activate(norm(x), slopes)
