"""What a net costs: parameters and floating-point operations, from its configuration alone.

Counted are the multiplications and additions of convolutions and matrices, 2 operations per multiply-add, a full kernel
at each of the 361 points (the padded rim included), as often as the forward pass applies it, and attention's products
of queries with keys and of weights with values. Not counted: what is made once a batch (maps of codes and offsets),
norms, activations, softmax, pooling, chain maxima, scans along diagonals, the stem's sum of two kernels; together under
1 % at width 192, more in narrow nets.
"""

from typing import Protocol, runtime_checkable

from torch import nn

from gonn_core.config import NetConfig
from gonn_core.go.points import POINTS
from gonn_core.nets.factors import STEM_CENTER
from gonn_core.nets.init import ShapesOnly
from gonn_core.nets.parts.board import STONES
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.nets.registry import make_net


@runtime_checkable
class _CountsMultiplyAdds(Protocol):
    def multiply_adds(self) -> int: ...


def count_parameters(net: NetConfig, planes: int) -> int:
    """Trainable parameters of `net` on that many input planes."""
    return trainable_parameters(_skeleton(net, planes))


def trainable_parameters(module: nn.Module) -> int:
    """Free numbers that training can move; what is tied is one parameter."""
    return sum(values.numel() for values in module.parameters())


def multiply_adds(net: NetConfig, planes: int) -> int:
    """Multiply-adds of one sample's forward pass."""
    return _multiply_adds(_skeleton(net, planes), "")


def _multiply_adds(module: nn.Module, prefix: str) -> int:
    """Of one module; one that knows better than its parameters' shapes tell says so in `multiply_adds()`, its children
    included."""
    if isinstance(module, _CountsMultiplyAdds):
        return module.multiply_adds()
    total = 0
    for name, values in module.named_parameters(recurse=False):
        if values.dim() == 4 and prefix + name != STEM_CENTER:
            # a kernel: applied at every point; the stem's centre is part of another
            total += POINTS * values.numel() * getattr(module, "kernel_uses", 1)
        elif values.dim() == 2:  # a matrix: applied once to the pooled statistics
            total += values.numel()
    return total + sum(_multiply_adds(child, f"{prefix}{name}.") for name, child in module.named_children())


def flops_per_sample(net: NetConfig, planes: int) -> int:
    """Operations of one sample's forward pass: 2 per multiply-add."""
    return 2 * multiply_adds(net, planes)


def training_flops_per_sample(net: NetConfig, planes: int) -> int:
    """Operations of one sample in training: three forward passes' worth (forward, gradient of the inputs, gradient of
    the weights)."""
    return 3 * flops_per_sample(net, planes)


def _skeleton(net: NetConfig, planes: int) -> PolicyNet:
    """The net without its weights, on planes of which the first two are the stones'."""
    names = (*STONES, *(f"plane_{i}" for i in range(2, planes)))[:planes]
    return make_net(net, names, ShapesOnly())
