"""Policy head: trunk to 361 logits, with pooled statistics of the whole board fed back to every point (spec: GoNN
2.5)."""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.norm import make_norm
from gonn_core.nets.parts.pooling import STATISTICS, PooledBias
from gonn_core.settings.widths import head_widths

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
