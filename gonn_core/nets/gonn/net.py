"""The GoNN family: stem, trunk, policy head, and norm and activation after the trunk, or after the stem (spec: GoNN 2).

Names of parameters are stable: a toggle adds or removes names (`stem.center`, `blocks.3.slopes1`,
`inserted.wide.first`), it never moves one. Initial weights are keyed by these names, so what two nets share starts
equal.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.gonn.blocks import make_block
from gonn_core.nets.gonn.head import GonnPolicyHead
from gonn_core.nets.gonn.inserted import InsertedBlocks
from gonn_core.nets.gonn.postactivation import PlainBlock, PostactivationBlock, StemEnd
from gonn_core.nets.gonn.stem import GonnStem
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.activations import make_slopes
from gonn_core.nets.parts.board import BoardReader
from gonn_core.nets.parts.norm import make_norm, normed_activation
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.settings.widths import stem_width

BLOCKS: dict[str, Callable[..., nn.Module]] = {
    "pre": make_block,
    "post": PostactivationBlock,
    "plain": PlainBlock,
}
"""`net.trunk.order` -> how a block is made from (draws, name, net, number)."""


class TrunkEnd(nn.Module):
    """Norm and activation after the last block."""

    def __init__(self, net: NetConfig):
        super().__init__()
        self.norm = make_norm(net, net.trunk.width)
        self.slopes = make_slopes(net, net.trunk.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return normed_activation(self.norm, x, self.slopes)


class GonnNet(PolicyNet):
    """Stem, blocks, norm and activation, policy head; these two follow the stem where the trunk's order is not `pre`.

    What stands beyond the edge of the board is not looked at.
    """

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws: Draws, beyond_edge: np.ndarray):
        super().__init__(plane_names)
        self.body_width = net.trunk.width
        make_block = BLOCKS[net.trunk.order]
        after_blocks = net.trunk.order == "pre"
        self.stem = GonnStem(draws, "stem", net.stem, stem_width(net.stem, net.trunk), self.plane_names)
        self.stem_end = nn.Identity() if after_blocks else StemEnd(net)
        self.blocks = nn.ModuleDict(
            {str(b): make_block(draws, f"blocks.{b}", net, b) for b in range(1, net.trunk.blocks + 1)}
        )
        self.inserted = InsertedBlocks(draws, "inserted", net)
        self.read_boards = BoardReader(self.plane_names, self.inserted) if self.inserted else None
        self.trunk_end = TrunkEnd(net) if after_blocks else nn.Identity()
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
