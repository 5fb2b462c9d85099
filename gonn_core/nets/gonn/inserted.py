"""Blocks that are inserted between the numbered ones: which, under what names, after which block.

A block of ours is named after what it is (`inserted.ladder_block`), never counted: the numbered blocks keep their names
and with them their initial weights. All have `forward(x, boards)`.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from torch import nn

from gonn_core.config import NetConfig, TrunkConfig
from gonn_core.nets.gonn.chain_pooling import ChainPooling
from gonn_core.nets.gonn.ladder_block import LadderBlock
from gonn_core.nets.gonn.wide import WideBlock
from gonn_core.nets.init import Draws
from gonn_core.settings.widths import block_at

HALF, THREE_QUARTERS = Fraction(1, 2), Fraction(3, 4)


class Insertion(NamedTuple):
    """One inserted block: its name, the share of the numbered blocks that come before it, and how to make it from
    (draws, name, net)."""

    name: str
    depth: Fraction
    make: Callable[..., nn.Module]


def _ladder_block(trunk: TrunkConfig) -> list[Insertion]:
    """After block 2 of 4 as published."""
    return [Insertion("ladder_block", HALF, LadderBlock)] if trunk.ladder_block else []


def _chain_pooling(trunk: TrunkConfig) -> list[Insertion]:
    """After block 2 of 4, behind the ladder block, as last committed; where the second of two lay is not known: after
    block 3 here."""
    depths = (HALF, THREE_QUARTERS)[: trunk.chain_pooling]
    return [Insertion(f"chain_pooling_{number}", depth, ChainPooling) for number, depth in enumerate(depths, 1)]


_ORIENTATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {},
    "shared": {"wide": ("down", "across")},
    "split": {"wide_down": ("down",), "wide_across": ("across",)},
    "down": {"wide": ("down",)},
}
"""`net.trunk.wide_blocks` -> name of each block -> its orientations."""


def _wide_blocks(trunk: TrunkConfig) -> list[Insertion]:
    """After block 3 of 4 as published; the split form is two blocks in a row."""
    return [
        Insertion(name, THREE_QUARTERS, partial(WideBlock, orientations=orientations))
        for name, orientations in _ORIENTATIONS[trunk.wide_blocks].items()
    ]


KINDS = (_ladder_block, _chain_pooling, _wide_blocks)
"""In the order in which they stand where several follow the same block."""


def insertions(trunk: TrunkConfig) -> list[Insertion]:
    """The inserted blocks in the order of the forward pass."""
    chosen = [insertion for kind in KINDS for insertion in kind(trunk)]
    return sorted(chosen, key=lambda insertion: insertion.depth)  # stable


class InsertedBlocks(nn.ModuleDict):
    """The inserted blocks by name; `after` maps the number of a block to the names of those that follow it."""

    def __init__(self, draws: Draws, name: str, net: NetConfig):
        chosen = insertions(net.trunk)
        super().__init__(
            {insertion.name: insertion.make(draws, f"{name}.{insertion.name}", net) for insertion in chosen}
        )
        self.after: dict[int, list[str]] = {}
        for insertion in chosen:
            self.after.setdefault(block_at(insertion.depth, net.trunk.blocks), []).append(insertion.name)
