"""Residual blocks that see nine points along rows and columns through kernels of low rank (spec: GoNN 3.4)."""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.activations import make_slopes
from gonn_core.nets.parts.board import Boards
from gonn_core.nets.parts.norm import make_norm, normed_activation
from gonn_core.settings.widths import sub_width

LENGTH = 9
SHARE_OF_RESIDUAL = 0.5
"""What each branch, or each block of the split form, gives to the trunk."""


class _Branch(nn.Module):
    """Norm and activation between the two kernels of one orientation."""

    def __init__(self, net: NetConfig, channels: int):
        super().__init__()
        self.norm = make_norm(net, channels)
        self.slopes = make_slopes(net, channels)

    def forward(self, y: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        y = normed_activation(self.norm, _convolved(y, first), self.slopes)
        return _convolved(y, second)


class WideBlock(nn.Module):
    """x + 0.5 * (sum over `orientations` of second(act(norm(first(z))))), z = act(norm(x)).

    "down": the first kernel is 9 points high and the second 9 wide; "across": the same two kernels transposed. With
    both orientations the kernels are shared and counted twice in the cost, norm and slopes of the branches are not.
    Kernels are stored as (out, in, 9, 1) and (out, in, 1, 9). Both start as a He draw that counts the trunk's width
    times 9, as published: the second one is sqrt(3) smaller than its own fan-in would make it.
    """

    def __init__(self, draws: Draws, name: str, net: NetConfig, orientations: tuple[str, ...]):
        super().__init__()
        width = net.trunk.width
        middle = sub_width(width, net.trunk.wide_share)
        self.kernel_uses = len(orientations)
        self.norm = make_norm(net, width)
        self.slopes = make_slopes(net, width)
        self.first = parameter(draws.he(f"{name}.first", (middle, width, LENGTH, 1), LENGTH * width))
        self.second = parameter(draws.he(f"{name}.second", (width, middle, 1, LENGTH), LENGTH * width))
        self.branches = nn.ModuleDict({orientation: _Branch(net, middle) for orientation in orientations})

    def forward(self, x: torch.Tensor, boards: Boards) -> torch.Tensor:
        z = normed_activation(self.norm, x, self.slopes)
        kernels = {"down": (self.first, self.second), "across": (self.first.mT, self.second.mT)}
        residual = sum(branch(z, *kernels[orientation]) for orientation, branch in self.branches.items())
        return x + SHARE_OF_RESIDUAL * residual


def _convolved(x: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    return F.conv2d(x, kernel, padding=tuple(size // 2 for size in kernel.shape[2:]))
