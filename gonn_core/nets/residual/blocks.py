"""Blocks of two 3x3 convolutions, in the orders of operations that Cazenave 2017 compares (spec: other systems 4.3).

    plain       Conv ReLU  Conv ReLU                       two usual layers
    darkforest  Conv ReLU SBN  Conv ReLU SBN               two layers of DarkForest
    residual    Conv ReLU  Conv  +x  ReLU
    original    Conv SBN ReLU  Conv SBN  +x  ReLU          He and others 2015
    identity    SBN ReLU Conv  SBN ReLU Conv  +x           He and others 2016
    golois      Conv ReLU  Conv  +x  ReLU  SBN             the next block adds the normalised output

Conv keeps the width and pads with zeros; SBN is batch normalisation per channel with trained scale and shift. Biases
are unstated. A golois block is a residual block and a norm: "the only difference" (3.5), so it keeps the biases, and so
does a darkforest block beside a plain one. A convolution next to its norm, as in the others, has none.
"""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.nets.init import Draws, constant, parameter
from gonn_core.nets.parts.norm import BatchNorm, normed_activation
from gonn_core.settings.net import ResidualConfig

SUM_SCALE = 0.3
"""The kernel before a sum starts at so much of its He draw: without a norm 14 whole ones would blow up the values 250
times."""


class Convolution3x3(nn.Module):
    """Width to width, as wide as the board."""

    def __init__(self, draws: Draws, name: str, width: int, bias: bool, scale: float = 1.0):
        super().__init__()
        self.kernel = parameter(scale * draws.he(f"{name}.kernel", (width, width, 3, 3), 9 * width))
        self.bias = constant(width, 0.0) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.conv2d(x, self.kernel, self.bias, padding=1)


class CazenaveBlock(nn.Module):
    """The two convolutions, (N, width, 19, 19) -> the same shape; `norms`: names of the norms there are."""

    norms: tuple[str, ...] = ()
    biases = True
    adds = True
    norm1: BatchNorm
    norm2: BatchNorm
    norm: BatchNorm

    def __init__(self, draws: Draws, name: str, width: int):
        super().__init__()
        self.conv1 = Convolution3x3(draws, f"{name}.conv1", width, self.biases)
        self.conv2 = Convolution3x3(draws, f"{name}.conv2", width, self.biases, SUM_SCALE if self.adds else 1.0)
        for norm in self.norms:
            self.add_module(norm, BatchNorm(width, gamma=True))


class PlainBlock(CazenaveBlock):
    adds = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.conv2(F.relu(self.conv1(x))))


class DarkforestBlock(CazenaveBlock):
    norms = ("norm1", "norm2")
    adds = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm2(F.relu(self.conv2(self.norm1(F.relu(self.conv1(x))))))


class ResidualBlock(CazenaveBlock):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.conv2(F.relu(self.conv1(x))) + x)


class OriginalBlock(CazenaveBlock):
    norms = ("norm1", "norm2")
    biases = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm2(self.conv2(normed_activation(self.norm1, self.conv1(x), None))) + x)


class IdentityBlock(CazenaveBlock):
    norms = ("norm1", "norm2")
    biases = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv2(normed_activation(self.norm2, self.conv1(normed_activation(self.norm1, x, None)), None)) + x


class GoloisBlock(CazenaveBlock):
    norms = ("norm",)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(F.relu(self.conv2(F.relu(self.conv1(x))) + x))


BLOCKS: dict[str, type[CazenaveBlock]] = {
    "plain": PlainBlock,
    "darkforest": DarkforestBlock,
    "residual": ResidualBlock,
    "original": OriginalBlock,
    "identity": IdentityBlock,
    "golois": GoloisBlock,
}
"""`net.residual.block` -> its class."""


class TowerEnd(nn.Module):
    """Norm and ReLU after the last `identity` block, whose sum nothing else follows (He and others 2016; ours to assume
    here)."""

    def __init__(self, width: int):
        super().__init__()
        self.norm = BatchNorm(width, gamma=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return normed_activation(self.norm, x, None)


def tower_end(residual: ResidualConfig) -> nn.Module:
    """What stands between the last block and the output convolution."""
    return TowerEnd(residual.width) if residual.block == "identity" else nn.Identity()
