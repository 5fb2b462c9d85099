"""Residual nets of Cazenave 2017: stem, tower of blocks, 3x3 output convolution (spec: other systems 4.3).

Names of parameters are stable: a kind of block adds or removes norms and biases, the stem its 1x1 kernel; none is
moved. Initial weights are unstated. Ours are He draws keyed by these names, with three constants that no toggle moves:
PUBLISHED_PLANES, SUM_SCALE, OUT_SCALE.
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
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.nets.residual.blocks import BLOCKS, tower_end

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
