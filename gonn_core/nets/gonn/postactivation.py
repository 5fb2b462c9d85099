"""Trunks whose norm and activation follow each convolution: residual blocks of mid December 2017, and the plain
convolutions before them (model code of these dates).

Norm and activation follow the stem (`StemEnd`) instead of the last block. Kernels, norms and slopes have the names of
the pre-activation blocks, so that a net of either order starts from the same numbers.
"""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.gonn.blocks import convolve_in_parts, second_kernel
from gonn_core.nets.init import Draws, block_kernel
from gonn_core.nets.parts.activations import activate, make_slopes
from gonn_core.nets.parts.norm import make_norm, normed_activation
from gonn_core.settings.widths import block_dilation, deleted_width, dilated_width, stem_width


class StemEnd(nn.Module):
    """Norm and activation after the stem."""

    def __init__(self, net: NetConfig):
        super().__init__()
        self.norm = make_norm(net, stem_width(net.stem, net.trunk))
        self.slopes = make_slopes(net, stem_width(net.stem, net.trunk))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return normed_activation(self.norm, x, self.slopes)


class PostactivationBlock(nn.Module):
    """act(x + norm2(conv2(act(norm1(conv1(x)))))), both 3x3; channels of conv1 dilated or deleted as in the
    pre-activation block."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, block: int):
        super().__init__()
        trunk = net.trunk
        width, center, dilation = trunk.width, trunk.center_init, block_dilation(trunk, block)
        middle = width - deleted_width(trunk) if trunk.deleted_channels and block > 1 else width
        dilated = dilated_width(trunk) if dilation > 1 else 0
        parts = ((middle - dilated, 1), (dilated, dilation))
        self.parts = tuple((channels, d) for channels, d in parts if channels)
        self.conv1 = block_kernel(draws, f"{name}.conv1", in_channels=width, out_channels=middle, center_init=center)
        self.norm1 = make_norm(net, middle)
        self.slopes1 = make_slopes(net, middle)
        self.conv2 = second_kernel(draws, f"{name}.conv2", net, middle)
        self.norm2 = make_norm(net, width)
        self.slopes2 = make_slopes(net, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = normed_activation(self.norm1, convolve_in_parts(x, self.conv1, self.parts), self.slopes1)
        return activate(x + self.norm2(F.conv2d(y, self.conv2, padding=1)), self.slopes2)


class PlainBlock(nn.Module):
    """act(norm1(conv1(x))), 3x3; the first one may read another width."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, block: int):
        super().__init__()
        width = net.trunk.width
        self.conv1 = block_kernel(
            draws,
            f"{name}.conv1",
            in_channels=stem_width(net.stem, net.trunk) if block == 1 else width,
            out_channels=width,
            center_init=net.trunk.center_init,
        )
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return normed_activation(self.norm1, F.conv2d(x, self.conv1, padding=1), self.slopes1)
