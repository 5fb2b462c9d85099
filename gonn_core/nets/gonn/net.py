"""The GoNN family: stem, residual trunk, norm and activation, policy head (spec: GoNN 2).

Names of parameters are stable: a toggle adds or removes names (`stem.center`, `blocks.3.slopes1`,
`inserted.wide.first`), it never moves one. Initial weights are keyed by these names, so what two nets share starts
equal.
"""

from collections.abc import Sequence

import torch
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.gonn.blocks import make_block
from gonn_core.nets.gonn.head import PolicyHead
from gonn_core.nets.gonn.inserted import InsertedBlocks
from gonn_core.nets.gonn.stem import Stem
from gonn_core.nets.parts.activations import activate, make_slopes
from gonn_core.nets.parts.board import BoardReader
from gonn_core.nets.parts.norm import BatchNorm
from gonn_core.nets.parts.normalise import normalised


class TrunkEnd(nn.Module):
    """Norm and activation after the last block."""

    def __init__(self, net: NetConfig):
        super().__init__()
        self.norm = BatchNorm(net.trunk.width, net.norm_gamma)
        self.slopes = make_slopes(net, net.trunk.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return activate(self.norm(x), self.slopes)


class GonnNet(nn.Module):
    """Planes (N, C, 19, 19) float -> logits (N, 361) float32; `plane_names` says what each of the C planes is."""

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws):
        super().__init__()
        self.plane_names = tuple(plane_names)
        if not self.plane_names or len(set(self.plane_names)) != len(self.plane_names):
            raise ValueError(f"plane names must be given and distinct: {self.plane_names}")
        self.stem = Stem(draws, "stem", net.stem, net.trunk.width, self.plane_names)
        self.blocks = nn.ModuleDict(
            {str(b): make_block(draws, f"blocks.{b}", net, b) for b in range(1, net.trunk.blocks + 1)}
        )
        self.inserted = InsertedBlocks(draws, "inserted", net)
        self.read_boards = BoardReader(self.plane_names, self.inserted) if self.inserted else None
        self.trunk_end = TrunkEnd(net)
        self.head = PolicyHead(draws, "head", net)

    @property
    def body_width(self) -> int:
        """Channels of `body`."""
        return len(self.trunk_end.norm.beta)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(planes))

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Trunk (N, W, 19, 19) -> logits (N, 1, 361) of the next move."""
        return self.head(body)[:, None]

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> trunk (N, W, 19, 19), normalised and activated."""
        x = self.stem(normalised(self, planes))
        boards = self.read_boards(planes) if self.inserted else None
        for number, block in enumerate(self.blocks.values(), 1):
            x = block(x)
            for name in self.inserted.after.get(number, ()):
                x = self.inserted[name](x, boards)
        return self.trunk_end(x)
