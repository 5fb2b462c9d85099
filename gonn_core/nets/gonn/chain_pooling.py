"""Residual block that pools over chains of stones: each stone sees the maximum over its whole chain (spec: GoNN
3.1)."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

from gonn_core.config import NetConfig
from gonn_core.go.points import POINTS
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.activations import make_slopes
from gonn_core.nets.parts.board import Boards
from gonn_core.nets.parts.norm import make_norm, normed_activation
from gonn_core.settings.widths import sub_width


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
