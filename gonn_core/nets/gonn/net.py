"""The GoNN family: stem, trunk, policy head, and norm and activation after the trunk, or after the stem (spec: GoNN 2).

Names of parameters are stable: a toggle adds or removes names (`stem.center`, `blocks.3.slopes1`,
`inserted.wide.first`), it never moves one. Initial weights are keyed by these names, so what two nets share starts
equal.

Policy head: trunk to 361 logits, with pooled statistics of the whole board fed back to every point (spec: GoNN
2.5).
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.gonn.blocks import GonnStem, make_block
from gonn_core.nets.gonn.inserted import InsertedBlocks
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.board import BoardReader
from gonn_core.nets.parts.norm import STATISTICS, PooledBias, make_norm, make_normed_activation
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.settings.gonn_net import head_widths, stem_width

FAN_IN_FACTOR = 4
"""Inputs of the matrix count so many times in its He draw (spec: GoNN 2.6)."""


class GonnPolicyHead(nn.Module):
    """t (N, W, 19, 19), normalised and activated -> logits (N, 361), float32, no pass, no legality mask.

    z = norm(conv(t) + pooled(pooled_conv(t))); logits = a convolution (5x5 as published) of [relu(z), relu(-z)]
    (CReLU), or of relu(z) alone. Without pooling there is neither pooled_conv nor matrix. No kernel here has a centre
    of its own.
    """

    def __init__(self, draws: Draws, name: str, net: NetConfig):
        super().__init__()
        width = net.trunk.width
        channels, pooled = head_widths(width, net.head)
        self.conv = parameter(draws.he(f"{name}.conv", (channels, width, 3, 3), 9 * width))
        self.pooled_conv: nn.Parameter | None = None
        self.pooled: PooledBias | None = None
        statistics, paired = STATISTICS[net.head.pooling], net.head.fan_in == "paired"
        if statistics:
            self.pooled_conv = parameter(draws.he(f"{name}.pooled_conv", (pooled, width, 3, 3), 9 * width))
            # paired: two statistics count, however many there are: the shared columns start equal (spec: GoNN 2.6)
            self.pooled = PooledBias(
                draws,
                f"{name}.pooled",
                net,
                statistics=statistics,
                in_channels=pooled,
                out_channels=channels,
                fan_in=FAN_IN_FACTOR * (2 if paired else len(statistics)) * pooled,
                scale=1.0,
            )
        self.norm = make_norm(net, channels)
        self.crelu = net.head.activation == "crelu"
        inputs = 2 * channels if self.crelu else channels
        # paired: both halves count, present or not, so that the shared weights start equal
        counted, side = 2 * channels if paired else inputs, net.head.kernel
        self.padding = side // 2
        self.out = parameter(net.head.out_scale * draws.he(f"{name}.out", (1, inputs, side, side), side**2 * counted))

    def channels_to_pool(self, t: torch.Tensor) -> torch.Tensor | None:
        """(N, pooled channels, 19, 19) just before pooling; None without any."""
        if self.pooled is None or self.pooled_conv is None:
            return None
        return self.pooled.channels(F.conv2d(t, self.pooled_conv, padding=1))

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        z = F.conv2d(t, self.conv, padding=1)
        if self.pooled is not None and self.pooled_conv is not None:
            z = z + self.pooled(F.conv2d(t, self.pooled_conv, padding=1))
        z = self.norm(z)
        z = F.relu(torch.cat((z, -z), 1) if self.crelu else z)
        with torch.autocast(z.device.type, enabled=False):  # bfloat16 logits would be rounded by up to 0.4 %
            return F.conv2d(z.float(), self.out, padding=self.padding).flatten(1)


class GonnNet(PolicyNet):
    """Stem, blocks, norm and activation, policy head; these two follow the stem where the trunk's order is not `pre`.

    Planes that continue beyond the edge of the board are read as zeros there.
    """

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws: Draws, beyond_edge: np.ndarray):
        super().__init__(plane_names)
        self.body_width = net.trunk.width
        after_blocks = net.trunk.order == "pre"
        first_width = stem_width(net.stem, net.trunk)
        self.stem = GonnStem(draws, "stem", net.stem, first_width, self.plane_names)
        self.stem_end = nn.Identity() if after_blocks else make_normed_activation(net, first_width)
        self.blocks = nn.ModuleDict(
            {str(b): make_block(draws, f"blocks.{b}", net, b) for b in range(1, net.trunk.blocks + 1)}
        )
        self.inserted = InsertedBlocks(draws, "inserted", net)
        self.read_boards = BoardReader(self.plane_names, self.inserted) if self.inserted else None
        self.trunk_end = make_normed_activation(net, net.trunk.width) if after_blocks else nn.Identity()
        self.head = GonnPolicyHead(draws, "head", net)

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Trunk (N, W, 19, 19) -> logits (N, 1, 361) of the next move."""
        return self.head(body)[:, None]

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> trunk (N, W, 19, 19), normalised and activated."""
        x = self.stem_end(self.stem(self.normalised(planes)))
        boards = None if self.read_boards is None else self.read_boards(planes)
        for number, block in enumerate(self.blocks.values(), 1):
            x = block(x)
            for name in self.inserted.after.get(number, ()):
                x = self.inserted[name](x, boards)
        return self.trunk_end(x)
