"""Learning-rate factors and weight decay by parameter (spec: GoNN 2.6, 4.2)."""

import torch
from torch import nn

from gonn_core.config import OptimiserConfig

STEM_CENTER = "stem.center"
_HEAD_SLOW = ("head.norm.gamma", "head.norm.beta", "head.out")
_LADDERS_SLOW = ("auxiliary.ladders.norm.gamma", "auxiliary.ladders.norm.beta", "auxiliary.ladders.out")
LADDERS_FACTOR = 0.05
"""Of the ladder head's norm and last convolution (spec: GoNN 3.3)."""


def gradient_factors(net: nn.Module, optimiser: OptimiserConfig) -> dict[str, float | torch.Tensor]:
    """Factor of each parameter's whole gradient (data and weight decay), where it is not 1.

    A float for a whole parameter; for the blocks' 3x3 kernels a float32 tensor (1, 1, 3, 3) to broadcast,
    `center_factor` in the middle and 1 around. The head's last norm and last convolution have `head_factor`, those of
    the ladder head LADDERS_FACTOR.
    """
    factors: dict[str, float | torch.Tensor] = {}
    for name, values in net.named_parameters():
        if name in _HEAD_SLOW and optimiser.head_factor != 1:
            factors[name] = optimiser.head_factor
        if name in _LADDERS_SLOW:
            factors[name] = LADDERS_FACTOR
        if name.startswith("blocks.") and values.dim() == 4 and optimiser.center_factor != 1:
            mask = torch.ones(1, 1, 3, 3)
            mask[:, :, 1, 1] = optimiser.center_factor
            factors[name] = mask
    return factors


def decayed(net: nn.Module) -> list[str]:
    """Names of the parameters under weight decay: kernels, matrices, the stem's centre kernel, PReLU slopes; not
    biases, not a norm's gamma, beta."""
    return [name for name, _ in net.named_parameters() if name.rpartition(".")[2] not in ("gamma", "beta", "bias")]
