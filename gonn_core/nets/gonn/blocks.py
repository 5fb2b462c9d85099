"""Pre-activation residual blocks: ordinary, dilated, global-pooling (spec: GoNN 2.3).

All three hold their first convolution as one kernel (W, W, 3, 3): a dilated block gives its last rows a dilation, a
global block pools the output of its last rows. So whichever kind block 7 is, its first kernel has the same name, shape
and initial values.
"""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.gonn.widths import block_dilation, dilated_width, global_blocks, pooled_width
from gonn_core.nets.init import block_kernel
from gonn_core.nets.parts.activations import activate, make_slopes
from gonn_core.nets.parts.norm import BatchNorm
from gonn_core.nets.parts.pooling import STATISTICS, PooledBias


class ResidualBlock(nn.Module):
    """x + conv2(act(norm2(conv1(act(norm1(x)))))), both 3x3; the last `dilated` rows of conv1 have `dilation`."""

    def __init__(self, draws, name: str, net: NetConfig, dilated: int = 0, dilation: int = 1):
        super().__init__()
        width, center = net.trunk.width, net.trunk.center_init
        rows = ((width - dilated, 1), (dilated, dilation))
        self.rows = tuple((count, d) for count, d in rows if count)
        self.norm1 = BatchNorm(width, net.norm_gamma)
        self.slopes1 = make_slopes(net, width)
        self.conv1 = block_kernel(draws, f"{name}.conv1", width, width, center)
        self.norm2 = BatchNorm(width, net.norm_gamma)
        self.slopes2 = make_slopes(net, width)
        self.conv2 = block_kernel(draws, f"{name}.conv2", width, width, center)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = activate(self.norm1(x), self.slopes1)
        kernels = self.conv1.split([count for count, _ in self.rows])
        outputs = [F.conv2d(y, kernel, padding=d, dilation=d) for kernel, (_, d) in zip(kernels, self.rows)]
        y = outputs[0] if len(outputs) == 1 else torch.cat(outputs, 1)
        y = activate(self.norm2(y), self.slopes2)
        return x + F.conv2d(y, self.conv2, padding=1)


class GlobalBlock(nn.Module):
    """Of conv1's W rows the last `pooled` are pooled over the board (mean and max) and added, through a matrix, to the
    other rows.

    x + conv2(act(norm2(A + matrix * pool(act(norm(G)))))) with A, G the first and last rows of conv1(act(norm1(x))).
    """

    def __init__(self, draws, name: str, net: NetConfig, pooled: int):
        super().__init__()
        width, center = net.trunk.width, net.trunk.center_init
        ordinary = width - pooled
        self.rows = (ordinary, pooled)
        self.norm1 = BatchNorm(width, net.norm_gamma)
        self.slopes1 = make_slopes(net, width)
        self.conv1 = block_kernel(draws, f"{name}.conv1", width, width, center)
        # the matrix starts at half of a He draw (spec: GoNN 2.6)
        self.pooled = PooledBias(
            draws, f"{name}.pooled", net, STATISTICS["mean_max"], pooled, ordinary, fan_in=2 * pooled, scale=0.5
        )
        self.norm2 = BatchNorm(ordinary, net.norm_gamma)
        self.slopes2 = make_slopes(net, ordinary)
        self.conv2 = block_kernel(draws, f"{name}.conv2", width, ordinary, center)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = activate(self.norm1(x), self.slopes1)
        y, pooled = F.conv2d(y, self.conv1, padding=1).split(self.rows, 1)
        y = activate(self.norm2(y + self.pooled(pooled)), self.slopes2)
        return x + F.conv2d(y, self.conv2, padding=1)


def make_block(draws, name: str, net: NetConfig, block: int) -> nn.Module:
    """Block number `block` (1-based) of the trunk: global where `global_blocks` says so, else dilated or ordinary."""
    if block in global_blocks(net.trunk):
        return GlobalBlock(draws, name, net, pooled_width(net.trunk))
    dilation = block_dilation(net.trunk, block)
    if dilation == 1:
        return ResidualBlock(draws, name, net)
    return ResidualBlock(draws, name, net, dilated_width(net.trunk), dilation)
