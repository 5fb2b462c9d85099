"""What an encoder is made of: dense maps applied at every token, layer normalisation, Keras' initial weights (spec:
other systems 3.2)."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.go.points import POINTS
from gonn_core.nets.init import Draws, constant, parameter

_CUT_SD = 0.87962566103423978
"""Standard deviation of a standard normal cut at 2 sigma; Keras divides by it, so that a draw has the variance it
names."""


def fan_average(
    draws: Draws, name: str, shape: tuple[int, ...], fans: int, scale: float = 1.0, part: str = ""
) -> np.ndarray:
    """Truncated normal draws of variance 2 scale / fans, fans = fan-in + fan-out (float64 array). Scale 1 is
    Glorot's."""
    return draws.he(name, shape, fans * _CUT_SD**2 / scale, part)


class Dense(nn.Module):
    """(…, in_features) -> (…, out_features): kernel (out_features, in_features) and, unless `bias` is False, a
    bias that starts at 0.

    `scale` is that of `fan_average`. `times`: how often a sample applies it, for counting operations.
    """

    def __init__(
        self,
        draws: Draws,
        name: str,
        *,
        in_features: int,
        out_features: int,
        bias: bool = True,
        scale: float = 1.0,
        times: int = POINTS,
    ):
        super().__init__()
        shape = (out_features, in_features)
        self.kernel = parameter(fan_average(draws, f"{name}.kernel", shape, in_features + out_features, scale))
        self.bias = constant(out_features, 0.0) if bias else None
        self.times = times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.kernel, self.bias)

    def multiply_adds(self) -> int:
        return self.times * self.kernel.numel()


class LayerNorm(nn.Module):
    """gamma (x - mean) / sqrt(variance + epsilon) + beta over the last axis; computed in float32, of x's type, whatever
    autocast would make of it: its list for CUDA holds this norm, its list for a CPU does not."""

    def __init__(self, width: int, epsilon: float):
        super().__init__()
        self.gamma = constant(width, 1.0)
        self.beta = constant(width, 0.0)
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x if x.device.type == "cpu" else x.float()  # CUDA's kernel takes x and parameters of one type alone
        with torch.autocast(x.device.type, enabled=False):
            return F.layer_norm(wide, self.gamma.shape, self.gamma, self.beta, self.epsilon).to(x.dtype)


def square_relu(x: torch.Tensor) -> torch.Tensor:
    """max(x, 0)^2."""
    return F.relu(x).square()


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": F.relu,
    "square_relu": square_relu,
    "swish": F.silu,
}
"""By the names in `EncoderConfig`."""


def factor_not_negative(module: nn.Module, values: torch.Tensor) -> torch.Tensor:
    """`values`, a parameter of `module` that multiplies, kept from falling below 0.

    In training it is clamped in place before it is used: the same as clamping after each step (Keras' NonNeg), so that
    a factor at 0 still has a gradient and can rise again. Otherwise the parameter is left alone.
    """
    if not module.training:
        return values.clamp(min=0)
    with torch.no_grad():
        values.clamp_(min=0)
    return values
