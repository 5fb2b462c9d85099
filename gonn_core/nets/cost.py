"""What a net costs: parameters and multiply-adds of a forward pass, from its configuration alone. Training:
`gonn_core.training.cost`.

Counted are convolutions and matrices, a full kernel at each of the 361 points (the padded rim included), as often as
the forward pass applies it, and attention's products of queries with keys and of weights with values. Not counted: what
is made once a batch (maps of codes and offsets), norms, activations, softmax, pooling, chain maxima, scans along
diagonals, the stem's sum of two kernels; together under 1 % at width 192, more in narrow nets.

What a configuration's net is, in a few numbers: a part whose code was changed makes another net of the same
settings, which nobody may take for the one that a trial was trained with (`gonn_core.trial.directory.other_net`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import nn

from gonn_core.config import FeatureConfig, NetConfig, OptimiserConfig, TrainingConfig, TrialConfig
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.init import Draws, ShapesOnly
from gonn_core.nets.parts.board import STONES
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.nets.registry import build_net, trial_net
from gonn_core.settings.training import AuxiliaryConfig

STEM_CENTER = "stem.center"
_HEAD_SLOW = ("head.norm.gamma", "head.norm.beta", "head.out")
_LADDERS_SLOW = ("auxiliary.ladders.norm.gamma", "auxiliary.ladders.norm.beta", "auxiliary.ladders.out")
LADDERS_FACTOR = 0.05
"""Of the ladder head's norm and last convolution (spec: GoNN 3.3)."""


def gradient_factors(net: nn.Module, optimiser: OptimiserConfig) -> dict[str, float | torch.Tensor]:
    """Factor of each parameter's whole gradient (data and weight decay), where it is not 1.

    A float for a whole parameter; for the blocks' 3x3 kernels a float32 tensor (1, 1, 3, 3) to broadcast,
    `center_factor` in the middle and 1 around. The head's last norm and last convolution have `head_factor`, those of
    the ladder head LADDERS_FACTOR, other norms' shifts `shift_factor`.
    """
    factors: dict[str, float | torch.Tensor] = {}
    for name, values in net.named_parameters():
        factor = optimiser.shift_factor if name.endswith(".beta") and values.dim() == 1 else 1.0
        if name in _HEAD_SLOW:
            factor = optimiser.head_factor
        if name in _LADDERS_SLOW:
            factor = LADDERS_FACTOR
        if factor != 1:
            factors[name] = factor
        if name.startswith("blocks.") and values.shape[2:] == (3, 3) and optimiser.center_factor != 1:
            mask = torch.ones(1, 1, 3, 3)
            mask[:, :, 1, 1] = optimiser.center_factor
            factors[name] = mask
    return factors


def hidden_matrices(net: nn.Module) -> list[str]:
    """Names of the kernels and matrices between stem and head that mix channels: what Muon is for."""
    return [
        name
        for name, values in net.named_parameters()
        if name.startswith(("blocks.", "inserted.", "layers.")) and not name.endswith("bias")
        if values.dim() in (2, 4) and values.shape[1] > 1
    ]


def decayed(net: nn.Module) -> list[str]:
    """Names of the parameters under weight decay: kernels, matrices, the stem's centre kernel, PReLU slopes; not
    biases, not a norm's gamma, beta."""
    return [name for name, _ in net.named_parameters() if name.rpartition(".")[2] not in ("gamma", "beta", "bias")]


def count_parameters(net: NetConfig, planes: int) -> int:
    """Trainable parameters of `net` on that many input planes."""
    return trainable_parameters(_skeleton(net, planes))


def trainable_parameters(module: nn.Module) -> int:
    """Free numbers that training can move; what is tied is one parameter."""
    return sum(values.numel() for values in module.parameters())


def multiply_adds(net: NetConfig, planes: int) -> int:
    """Multiply-adds of one sample's forward pass."""
    return module_multiply_adds(_skeleton(net, planes))


def module_multiply_adds(module: nn.Module, prefix: str = "") -> int:
    """Of one module; one that knows better than its parameters' shapes tell says so in `multiply_adds()`, its children
    included."""
    if (own := getattr(module, "multiply_adds", None)) is not None:
        return own()
    total = 0
    for name, values in module.named_parameters(recurse=False):
        if values.dim() == 4 and prefix + name != STEM_CENTER:
            # a kernel: applied at every point; the stem's centre is part of another
            total += POINTS * values.numel() * getattr(module, "kernel_uses", 1)
        elif values.dim() == 2:  # a matrix: applied once to the pooled statistics
            total += values.numel()
    return total + sum(module_multiply_adds(child, f"{prefix}{name}.") for name, child in module.named_children())


def _skeleton(net: NetConfig, planes: int) -> PolicyNet:
    """The net without its weights, on planes of which the first two are the stones'."""
    names = (*STONES, *(f"plane_{i}" for i in range(2, planes)))[:planes]
    return build_net(net, names, ShapesOnly())


_SHIFT = 0.1
"""Of the weights before the net answers: what starts at zero would hide the parts before it."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are made in one order, whatever the number of cores; and small nets ten times as cheaply."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@cache
def fingerprint(
    net_config: NetConfig, features: FeatureConfig, auxiliary: AuxiliaryConfig
) -> tuple[int, tuple[float, ...]]:
    """Parameters that training can move; and of the logits for two fixed boards the spread and three weighted sums,
    and the mean size of the initial weights. Of one seed."""
    training = TrainingConfig().model_copy(update={"auxiliary": auxiliary})
    parts = {"net": net_config, "features": features, "training": training}
    net = trial_net(TrialConfig().model_copy(update=parts), Draws(0)).eval()
    count = trainable_parameters(net)
    with torch.no_grad(), one_thread():
        size = sum(float(values.double().abs().sum()) for values in net.parameters()) / count
        for values in net.parameters():
            values.add_(_SHIFT * torch.arange(values.numel()).double().cos().float().view_as(values))
        board = (torch.arange(POINTS) ** 2 // 5 % 10).view(SIZE, SIZE)
        planes = torch.stack([board == i % 10 for i in range(len(net.plane_names))]).float()
        logits = net(torch.stack([planes, planes.roll(3, -1)])).double().flatten()
        waves = [torch.arange(len(logits)).double().mul(frequency).cos() for frequency in (1, 2, 3)]
        sums = [float(logits @ wave) / len(logits) ** 0.5 for wave in waves]
    return count, tuple(float(f"{number:.7g}") for number in (float(logits.std()), *sums, size))
