"""What is pooled over the board and given back to every point: in the policy head and in global blocks (spec: GoNN 2.3,
2.5)."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.activations import make_slopes
from gonn_core.nets.parts.norm import make_norm, normed_activation

STATISTICS = {
    "none": (),
    "mean": ("mean",),
    "max": ("max",),
    "mean_max": ("mean", "max"),
    "mean_max_stdev": ("mean", "max", "stdev"),
}
"""Statistics of each `net.head.pooling`, in the order of the matrix's columns."""

STDEV_FLOOR = 1e-4
"""Added to the variance under the root, so that a constant channel has a gradient."""


def pool_board(x: torch.Tensor, statistics: tuple[str, ...]) -> torch.Tensor:
    """(N, C, 19, 19) -> (N, len(statistics) * C): each statistic of all channels in turn, over all 361 points, in
    float32.

    mean; max (its gradient is shared among ties); stdev = sqrt(population variance + 1e-4).
    """
    x = x.float()  # also far faster than a bfloat16 reduction on a CPU
    board = (2, 3)
    functions = {
        "mean": lambda: x.mean(board),
        "max": lambda: x.amax(board),
        "stdev": lambda: (x.var(board, correction=0) + STDEV_FLOOR).sqrt(),
    }
    return torch.cat([functions[statistic]() for statistic in statistics], 1)


class PooledBias(nn.Module):
    """Norm and activation, statistics over the board, and a matrix (no bias) that makes of them one number per output
    channel.

    (N, in_channels, 19, 19) -> (N, out_channels, 1, 1), to be added at every point. `name` is the parameters' prefix.
    The matrix starts as `scale` times a He draw with `fan_in`; its columns are drawn per statistic, so adding one
    leaves the others as they are.
    """

    def __init__(
        self,
        draws: Draws,
        name: str,
        net: NetConfig,
        *,
        statistics: tuple[str, ...],
        in_channels: int,
        out_channels: int,
        fan_in: int,
        scale: float,
    ):
        super().__init__()
        self.statistics = statistics
        self.norm = make_norm(net, in_channels)
        self.slopes = make_slopes(net, in_channels)
        columns = [
            scale * draws.he(f"{name}.matrix", (out_channels, in_channels), fan_in, statistic)
            for statistic in statistics
        ]
        self.matrix = parameter(np.concatenate(columns, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(pool_board(self.channels(x), self.statistics), self.matrix)[:, :, None, None]

    def channels(self, x: torch.Tensor) -> torch.Tensor:
        """(N, in_channels, 19, 19) what is pooled."""
        return normed_activation(self.norm, x, self.slopes)
