"""Residual nets of Cazenave 2017: stem, tower of blocks, 3x3 output convolution (spec: other systems 4.3).

Names of parameters are stable: a kind of block adds or removes norms and biases, the stem its 1x1 kernel; none is
moved. Initial weights are unstated. Ours are He draws keyed by these names, with three constants that no toggle moves:
PUBLISHED_PLANES, SUM_SCALE, OUT_SCALE.

Blocks of two 3x3 convolutions, in the orders of operations that Cazenave 2017 compares (spec: other systems 4.3).

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

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import POINTS
from gonn_core.nets.init import Draws, constant, parameter
from gonn_core.nets.parts.norm import BatchNorm, normed_activation
from gonn_core.nets.policy_net import PolicyNet
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


PUBLISHED_PLANES = 45
"""Planes that the stem's fan-in counts, whatever the number of planes present, so that the others' weights start equal
without one."""

OUT_SCALE = 0.5
"""The output convolution starts at half of a He draw: its logits are then about those of a uniform policy."""


class ResidualStem(nn.Module):
    """ReLU(conv 5x5 + conv 1x1), planes (N, C, 19, 19) -> (N, width, 19, 19); weights drawn per plane by its name.

    The 1x1 kernel is added to the centre tap, which costs nothing; it is a parameter of its own. One bias serves both.
    """

    def __init__(self, draws: Draws, name: str, width: int, pointwise: bool, plane_names: Sequence[str]):
        super().__init__()
        kernels = [draws.he(f"{name}.kernel", (width, 5, 5), PUBLISHED_PLANES * 25, plane) for plane in plane_names]
        self.kernel = parameter(np.stack(kernels, 1))
        self.pointwise = None
        if pointwise:
            columns = [draws.he(f"{name}.pointwise", (width,), PUBLISHED_PLANES, plane) for plane in plane_names]
            self.pointwise = parameter(np.stack(columns, 1)[:, :, None, None])
        self.bias = constant(width, 0.0)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        kernel = self.kernel if self.pointwise is None else self.kernel + F.pad(self.pointwise, (2, 2, 2, 2))
        return F.relu(F.conv2d(planes, kernel, self.bias, padding=2))

    def multiply_adds(self) -> int:
        """Of one sample; the 1x1 kernel is part of the other."""
        return POINTS * self.kernel.numel()


class OutputConvolution(nn.Module):
    """Body (N, width, 19, 19) -> logits (N, K, 361) float32 of the K next moves.

    Without a bias: one number for all points of a plane would leave its softmax as it is.
    """

    def __init__(self, draws: Draws, name: str, width: int, planes: int):
        super().__init__()
        self.kernel = parameter(OUT_SCALE * draws.he(f"{name}.kernel", (planes, width, 3, 3), 9 * width))

    def forward(self, body: torch.Tensor) -> torch.Tensor:
        with torch.autocast(body.device.type, enabled=False):  # bfloat16 logits would be rounded by up to 0.4 %
            return F.conv2d(body.float(), self.kernel, padding=1).flatten(2)


class ResidualNet(PolicyNet):
    """Stem, tower of blocks, output convolution."""

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws: Draws, beyond_edge: np.ndarray):
        """As `registry.make_net`. Raises SettingError for planes that go on beyond the edge of the board."""
        super().__init__(plane_names)
        if beyond_edge.any():
            raise SettingError(
                "features.edge", "channel or as_opponent", "family residual pads its input with zeros", "none"
            )
        residual = net.residual
        self.body_width = residual.width
        self.stem = ResidualStem(draws, "stem", residual.width, residual.stem_pointwise, self.plane_names)
        block = BLOCKS[residual.block]
        self.blocks = nn.ModuleDict(
            {str(b): block(draws, f"blocks.{b}", residual.width) for b in range(1, residual.blocks + 1)}
        )
        self.tower_end = tower_end(residual)
        self.output = OutputConvolution(draws, "output", residual.width, residual.output_planes)

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> what the output convolution reads (N, width, 19, 19)."""
        x = self.stem(self.normalised(planes))
        for block in self.blocks.values():
            x = block(x)
        return self.tower_end(x)

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """`body` -> logits (N, K, 361) float32: the next move, the reply, the move after that."""
        return self.output(body)
