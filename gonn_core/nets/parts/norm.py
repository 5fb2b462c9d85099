"""Batch normalisation per channel over batch and board, scale optional, shift always (spec: GoNN 2.1)."""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.nets.init import constant

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
        scale = self.unit if self.gamma is None else self.gamma
        return F.batch_norm(x, self.mean, self.variance, scale, self.beta, self.training, MOMENTUM, EPSILON)
