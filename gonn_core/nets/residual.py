"""Residual nets of Cazenave 2017: stem, tower of blocks, 3x3 output convolution (spec: other systems 4.3).

Names of parameters are stable: a kind of block adds or removes norms and biases, the stem its 1x1 kernel; none is
moved. Initial weights are unstated. Ours are He draws keyed by these names, with three constants that no toggle moves:
PUBLISHED_PLANES, SUM_SCALE, OUT_SCALE.

A block has two 3x3 convolutions that keep the width and pad with zeros, in the orders of operations that Cazenave 2017
compares (`ORDERS`). Norms are per channel with trained scale and shift. Biases are unstated. A golois block is a
residual block and a norm: "the only difference" (3.5), so it keeps the biases, and so does a darkforest block next to a
plain one. A convolution next to its norm, as in the others, has none.
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
from gonn_core.nets.parts.norm import BatchNorm, NormedActivation, normed_activation
from gonn_core.nets.policy_net import PolicyNet

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


ORDERS = {
    "plain": ("conv1", "relu", "conv2", "relu"),
    "darkforest": ("conv1", "relu", "norm1", "conv2", "relu", "norm2"),
    "residual": ("conv1", "relu", "conv2", "add", "relu"),
    "original": ("conv1", "norm1+relu", "conv2", "norm2", "add", "relu"),
    "identity": ("norm1+relu", "conv1", "norm2+relu", "conv2", "add"),
    "golois": ("conv1", "relu", "conv2", "add", "relu", "norm"),
}
"""`net.residual.block` -> order of operations: two usual layers; two layers of DarkForest; residual; He and others
2015; He and others 2016; and a residual block and a norm, whose output the next block adds."""


class CazenaveBlock(nn.Module):
    """The operations of one of `ORDERS`, (N, width, 19, 19) -> the same shape."""

    def __init__(self, draws: Draws, name: str, width: int, kind: str):
        super().__init__()
        self.order = ORDERS[kind]
        biases = kind not in ("original", "identity")
        scale = SUM_SCALE if "add" in self.order else 1.0
        self.conv1 = Convolution3x3(draws, f"{name}.conv1", width, biases)
        self.conv2 = Convolution3x3(draws, f"{name}.conv2", width, biases, scale)
        for step in self.order:
            if step.startswith("norm"):
                self.add_module(step.partition("+")[0], BatchNorm(width, gamma=True))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x
        for step in self.order:
            part, _, activated = step.partition("+")
            if step == "relu":
                y = F.relu(y)
            elif step == "add":
                y = y + x
            elif activated:
                y = normed_activation(getattr(self, part), y, None)
            else:
                y = getattr(self, part)(y)
        return y


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
        """As `registry.build_net`. Raises SettingError for planes that continue beyond the edge of the board."""
        super().__init__(plane_names)
        if beyond_edge.any():
            raise SettingError(
                "features.edge", "channel or as_opponent", "family residual pads its input with zeros", "none"
            )
        residual = net.residual
        self.body_width = residual.width
        self.stem = ResidualStem(draws, "stem", residual.width, residual.stem_pointwise, self.plane_names)
        self.blocks = nn.ModuleDict(
            {
                str(b): CazenaveBlock(draws, f"blocks.{b}", residual.width, residual.block)
                for b in range(1, residual.blocks + 1)
            }
        )
        # the sum of the last `identity` block is followed by nothing else (He and others 2016; ours to assume here)
        end = NormedActivation(BatchNorm(residual.width, gamma=True), None)
        self.tower_end = end if residual.block == "identity" else nn.Identity()
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
