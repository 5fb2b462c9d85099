"""Blocks that are inserted between the numbered ones: which, under what names, after which block.

A block of ours is named after what it is (`inserted.ladder_block`), never counted: the numbered blocks keep their names
and with them their initial weights. All have `forward(x, boards)`.

* `LadderBlock` carries values along diagonals, as ladders run: an exponentially weighted running mean (spec: GoNN 3.2).
* `ChainPooling` pools over chains of stones: each stone sees the maximum over its whole chain (spec: GoNN 3.1).
* `WideBlock` sees nine points along rows and columns through kernels of low rank (spec: GoNN 3.4).
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
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.board import Boards
from gonn_core.nets.parts.norm import make_norm, make_normed_activation, make_slopes, normed_activation
from gonn_core.settings.gonn_net import block_at, sub_width

EMPTY_BIAS = 2.0
"""Taken from what becomes the exponent of an empty point, where `ladder_weights` is `biased`."""

STRONGEST, WEAKEST = 1.5, 1e-4
"""Exponents go from WEAKEST, a point that leaves the mean almost as it was, to about STRONGEST, one that leaves
exp(-1.5) = 22 % of it."""

FLIPS = ((), (-2, -1), (-1,), (-2,))
"""Which axes to flip so that a direction becomes the first one, down along anti-diagonals: down left, up right, down
right, up left."""


class LadderBlock(nn.Module):
    """x + mix(scan(values, exponents)) with z = act(norm1(x)), values = act(norm2(values_conv(z))), and
    exponents = 1.5 sigmoid(exponents_norm(exponents_conv(z))) near stones, 0 elsewhere, plus 0.0001; 3x3 kernels, mix
    1x1.

    ladder_weights `biased`: the sigmoid of that less 2 at empty points, wherever they are; `free`: without either.
    A quarter of the `ladder_share` channels is scanned in each of four directions. No kernel has a centre of its own.
    Exponents and scan are float32 whatever the precision: weights reach exp(19 * 1.5).
    """

    def __init__(self, draws: Draws, name: str, net: NetConfig):
        super().__init__()
        width = net.trunk.width
        channels = sub_width(width, net.trunk.ladder_share)
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)
        self.values_conv = parameter(draws.he(f"{name}.values_conv", (channels, width, 3, 3), 9 * width))
        self.norm2 = make_norm(net, channels)
        self.slopes2 = make_slopes(net, channels)
        self.exponents_conv = parameter(draws.he(f"{name}.exponents_conv", (channels, width, 3, 3), 9 * width))
        self.exponents_norm = make_norm(net, channels)
        self.weights, self.mean = net.trunk.ladder_weights, MEANS[net.trunk.ladder_mean]
        self.mix = parameter(draws.he(f"{name}.mix", (width, channels, 1, 1), channels))

    def forward(self, x: torch.Tensor, boards: Boards) -> torch.Tensor:
        z = normed_activation(self.norm1, x, self.slopes1)
        values = normed_activation(self.norm2, F.conv2d(z, self.values_conv, padding=1).float(), self.slopes2)
        exponents = self.exponents_norm(F.conv2d(z, self.exponents_conv, padding=1).float())
        if self.weights == "biased":
            exponents = exponents - EMPTY_BIAS * (1 - boards.occupied)
        exponents = STRONGEST * torch.sigmoid(exponents)
        if self.weights == "near":
            exponents = exponents * boards.near
        return x + F.conv2d(scan_diagonals(values, exponents + WEAKEST, self.mean), self.mix)


def running_sum(x: torch.Tensor) -> torch.Tensor:
    """Float sums of x (…, rows, columns) down the columns, each with what is above it.

    On a GPU a scan of floats sums in another order each time; there it is a product with a triangle of ones.
    """
    if x.device.type == "cpu":
        return x.cumsum(-2)
    return _product_with_triangle(x)


def _product_with_triangle(x: torch.Tensor) -> torch.Tensor:
    rows = x.shape[-2]
    return x.new_ones(rows, rows).tril() @ x


def exponential_mean(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Running mean of values a down the columns, weights from exponents b: B_t = b_1 + … + b_t,
    w_t = exp(B_t) - exp(B_(t-1)), so that the last strong point dominates.

    Cells off the board have b = 0, hence weight 0 and, above the board, a sum of 0.
    """
    total = running_sum(b)
    weights = torch.exp(total - b) * torch.expm1(b)
    sums = torch.expm1(total)  # of the weights so far: they telescope
    return running_sum(weights * a) / sums.masked_fill(sums == 0, 1.0)


def plain_mean(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Running mean of values a down the columns with weights b themselves, as the document sketches it."""
    sums = running_sum(b)
    return running_sum(b * a) / sums.masked_fill(sums == 0, 1.0)


MEANS = {"exponential": exponential_mean, "plain": plain_mean}
"""`net.trunk.ladder_mean` -> its function of values and exponents (…, rows, columns)."""


def scan_diagonals(
    values: torch.Tensor,
    exponents: torch.Tensor,
    mean: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = exponential_mean,
) -> torch.Tensor:
    """(N, 4C, 19, 19) -> the same shape: the channels in four groups, each scanned in one direction of `FLIPS`.

    In scanning order, with weights w_t that `mean` makes of the exponents,
    y_t = (w_1 a_1 + … + w_t a_t) / (w_1 + … + w_t). Float32 in, float32 out.
    """
    with torch.autocast(values.device.type, enabled=False):
        a, b = (
            torch.stack([group.flip(axes) for group, axes in zip(x.chunk(4, 1), FLIPS, strict=True)])
            for x in (values, exponents)
        )
        scanned = _unskew(mean(_skew(a), _skew(b)))
        return torch.cat([group.flip(axes) for group, axes in zip(scanned, FLIPS, strict=True)], 1)


def _skew(x: torch.Tensor) -> torch.Tensor:
    """(…, n, n) -> (…, n, 2n - 1): row i moved i places to the right between zeros, so that anti-diagonals become
    columns."""
    n = x.shape[-1]
    return F.pad(x, (0, n)).flatten(-2)[..., : n * (2 * n - 1)].unflatten(-1, (n, 2 * n - 1))


def _unskew(x: torch.Tensor) -> torch.Tensor:
    """Undoes `_skew`."""
    n = x.shape[-2]
    return F.pad(x.flatten(-2), (0, n)).unflatten(-1, (n, 2 * n))[..., :n]


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
        self.branches = nn.ModuleDict({side: make_normed_activation(net, middle) for side in orientations})
        """Between the two kernels of each orientation."""

    def forward(self, x: torch.Tensor, boards: Boards) -> torch.Tensor:
        z = normed_activation(self.norm, x, self.slopes)
        kernels = {"down": (self.first, self.second), "across": (self.first.mT, self.second.mT)}
        residual = sum(
            _convolved(branch(_convolved(z, kernels[side][0])), kernels[side][1])
            for side, branch in self.branches.items()
        )
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


_ORIENTATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {},
    "shared": {"wide": ("down", "across")},
    "split": {"wide_down": ("down",), "wide_across": ("across",)},
    "down": {"wide": ("down",)},
}
"""`net.trunk.wide_blocks` -> name of each block -> its orientations."""


def insertions(trunk: TrunkConfig) -> list[Insertion]:
    """The inserted blocks in the order of the forward pass.

    Of 4 blocks as published the ladder block follows block 2, and the wide blocks follow block 3 (the split form is two
    in a row). Chain pooling follows block 2, behind the ladder block, as last committed; where the second of two was is
    not known: after block 3 here.
    """
    chosen = [Insertion("ladder_block", HALF, LadderBlock)] * trunk.ladder_block
    for number, depth in enumerate((HALF, THREE_QUARTERS)[: trunk.chain_pooling], 1):
        chosen.append(Insertion(f"chain_pooling_{number}", depth, ChainPooling))
    for name, orientations in _ORIENTATIONS[trunk.wide_blocks].items():
        chosen.append(Insertion(name, THREE_QUARTERS, partial(WideBlock, orientations=orientations)))
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
