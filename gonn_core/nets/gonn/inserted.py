"""Blocks that are inserted between the numbered ones: which, under what names, after which block.

A block of ours is named after what it is (`inserted.ladder_block`), never counted: the numbered blocks keep their names
and with them their initial weights. All have `forward(x, boards)`.

Residual blocks that see nine points along rows and columns through kernels of low rank (spec: GoNN 3.4).

Residual block that pools over chains of stones: each stone sees the maximum over its whole chain (spec: GoNN
3.1).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

from gonn_core.config import NetConfig, TrunkConfig
from gonn_core.go.points import POINTS
from gonn_core.nets.gonn.ladder_block import LadderBlock
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.board import Boards
from gonn_core.nets.parts.norm import make_norm, make_slopes, normed_activation
from gonn_core.settings.gonn_net import block_at, sub_width


class ChainPooling(nn.Module):
    """x + conv2(chain_max(act(norm2(conv1(act(norm1(x))))))), both 3x3, `chain_pooling_share` of the trunk's channels
    between them.

    No centre of its own, in size or rate: the block was given up before blocks had that. conv2 starts at
    `chain_pooling_init` times a He draw.
    """

    def __init__(self, draws: Draws, name: str, net: NetConfig):
        super().__init__()
        width = net.trunk.width
        middle = sub_width(width, net.trunk.chain_pooling_share)
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)
        self.conv1 = parameter(draws.he(f"{name}.conv1", (middle, width, 3, 3), 9 * width))
        self.norm2 = make_norm(net, middle)
        self.slopes2 = make_slopes(net, middle)
        self.conv2 = parameter(
            net.trunk.chain_pooling_init * draws.he(f"{name}.conv2", (width, middle, 3, 3), 9 * middle)
        )

    def forward(self, x: torch.Tensor, boards: Boards) -> torch.Tensor:
        y = normed_activation(self.norm1, x, self.slopes1)
        y = normed_activation(self.norm2, F.conv2d(y, self.conv1, padding=1), self.slopes2)
        return x + F.conv2d(chain_max(y, boards), self.conv2, padding=1)


def chain_max(x: torch.Tensor, boards: Boards) -> torch.Tensor:
    """(N, C, 19, 19) -> the same shape, float32: at a stone the maximum of each channel over its chain, 0 at empty
    points.

    The gradient of a maximum is shared among ties, in float32.
    """
    count, channels = x.shape[:2]
    rows = x.float().permute(0, 2, 3, 1).reshape(-1, channels)  # a row per point, so that one index serves all channels
    first = boards.chains + POINTS * torch.arange(count, device=x.device)[:, None]
    pooled = _SegmentMax.apply(rows, first.flatten()).reshape(count, *x.shape[2:], channels)
    return pooled.permute(0, 3, 1, 2) * boards.occupied


class _SegmentMax(torch.autograd.Function):
    """Each row (P, C) becomes the maximum, channel by channel, of the rows with the same number in `segment` (P,), 0 <=
    number < P.

    PyTorch has it as scatter and gather, whose gradients are summed in another order each time on a GPU; `index_put`
    sums in one order.
    """

    @staticmethod
    def forward(ctx, rows, segment):
        top = torch.full_like(rows, -torch.inf)
        top.scatter_reduce_(0, segment[:, None].expand_as(rows), rows, "amax")
        maxima = top.index_select(0, segment)
        ctx.save_for_backward(rows == maxima, segment)
        return maxima

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        winners, segment = ctx.saved_tensors
        shares = torch.zeros_like(grad).index_put_((segment,), grad, accumulate=True)
        shares /= torch.zeros_like(grad).index_put_((segment,), winners.to(grad.dtype), accumulate=True).clamp_(min=1)
        return shares.index_select(0, segment).mul_(winners), None


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


HALF, THREE_QUARTERS = Fraction(1, 2), Fraction(3, 4)


class Insertion(NamedTuple):
    """One inserted block: its name, the share of the numbered blocks that come before it, and how to make it from
    (draws, name, net)."""

    name: str
    depth: Fraction
    make: Callable[..., nn.Module]


def _ladder_block(trunk: TrunkConfig) -> list[Insertion]:
    """After block 2 of 4 as published."""
    return [Insertion("ladder_block", HALF, LadderBlock)] if trunk.ladder_block else []


def _chain_pooling(trunk: TrunkConfig) -> list[Insertion]:
    """After block 2 of 4, behind the ladder block, as last committed; where the second of two lay is not known: after
    block 3 here."""
    depths = (HALF, THREE_QUARTERS)[: trunk.chain_pooling]
    return [Insertion(f"chain_pooling_{number}", depth, ChainPooling) for number, depth in enumerate(depths, 1)]


_ORIENTATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {},
    "shared": {"wide": ("down", "across")},
    "split": {"wide_down": ("down",), "wide_across": ("across",)},
    "down": {"wide": ("down",)},
}
"""`net.trunk.wide_blocks` -> name of each block -> its orientations."""


def _wide_blocks(trunk: TrunkConfig) -> list[Insertion]:
    """After block 3 of 4 as published; the split form is two blocks in a row."""
    return [
        Insertion(name, THREE_QUARTERS, partial(WideBlock, orientations=orientations))
        for name, orientations in _ORIENTATIONS[trunk.wide_blocks].items()
    ]


KINDS = (_ladder_block, _chain_pooling, _wide_blocks)
"""In the order in which they stand where several follow the same block."""


def insertions(trunk: TrunkConfig) -> list[Insertion]:
    """The inserted blocks in the order of the forward pass."""
    chosen = [insertion for kind in KINDS for insertion in kind(trunk)]
    return sorted(chosen, key=lambda insertion: insertion.depth)  # stable


class InsertedBlocks(nn.ModuleDict):
    """The inserted blocks by name; `after` maps the number of a block to the names of those that follow it."""

    def __init__(self, draws: Draws, name: str, net: NetConfig):
        chosen = insertions(net.trunk)
        super().__init__(
            {insertion.name: insertion.make(draws, f"{name}.{insertion.name}", net) for insertion in chosen}
        )
        self.after: dict[int, list[str]] = {}
        for insertion in chosen:
            self.after.setdefault(block_at(insertion.depth, net.trunk.blocks), []).append(insertion.name)
