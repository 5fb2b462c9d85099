"""Nets and planes that the tests of this folder share."""

import numpy as np
import torch
import torch.nn.functional as F

from gonn_core.config import HeadConfig, NetConfig, StemConfig, TrunkConfig
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.go.points import BLACK, EMPTY, WHITE
from gonn_core.nets import build_net

B5 = NetConfig(
    activation="prelu",
    norm_gamma=True,
    stem=StemConfig(center_kernel=True),
    trunk=TrunkConfig(dilations=(2, 3, 2, 3), center_init=0.3),
    head=HeadConfig(pooling="mean_max"),
)
"""The published 5-block net (spec: GoNN 2)."""


def changed(net: NetConfig, **parts) -> NetConfig:
    """`net` with fields replaced: plain ones directly, sections by dicts of theirs, e.g. changed(B5, trunk={"width":
    12})."""
    values = {
        name: getattr(net, name).model_copy(update=part) if isinstance(part, dict) else part
        for name, part in parts.items()
    }
    return net.model_copy(update=values)


TINY = changed(B5, trunk={"width": 12, "blocks": 5})
"""The 5-block net's structure at a sixteenth of its width."""


def built(net: NetConfig, plane_names=PLANE_NAMES, init_seed: int = 0) -> torch.nn.Module:
    return build_net(net, plane_names, init_seed)


def weights(net: NetConfig, plane_names=PLANE_NAMES, init_seed: int = 0) -> dict[str, torch.Tensor]:
    """Initial parameters by name."""
    return {name: values.detach() for name, values in built(net, plane_names, init_seed).named_parameters()}


def random_planes(count: int = 4, planes: int = len(PLANE_NAMES), seed: int = 0) -> torch.Tensor:
    """(count, planes, 19, 19) float32 of zeros and some ones."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(count, planes, 19, 19, generator=generator) < 0.3).float()


def trunk_values(count: int = 3, width: int = 12, seed: int = 0) -> torch.Tensor:
    """Normally distributed values of a trunk."""
    return torch.randn(count, width, 19, 19, generator=torch.Generator().manual_seed(seed))


def normalised(x: torch.Tensor) -> torch.Tensor:
    """Batch normalisation with the batch's own statistics."""
    return F.batch_norm(x, None, None, training=True, eps=1e-3)


SPECIAL = changed(TINY, trunk={"ladder_block": True, "chain_pooling": 2, "wide_blocks": "shared"})
"""TINY with an inserted block of every kind."""


def board_planes(*colours) -> torch.Tensor:
    """(N, 2, 19, 19) float32, the stone planes of boards given as colours (361,): black is own, white the opponent."""
    stones = np.stack([[board == BLACK, board == WHITE] for board in colours]).reshape(-1, 2, 19, 19)
    return torch.from_numpy(stones.astype(np.float32))


def random_colours(count: int, seed: int = 0, share: float = 0.7) -> list[np.ndarray]:
    """Boards with stones of random colour on about `share` of their points, legal or not."""
    generator = np.random.default_rng(seed)
    return [generator.choice([EMPTY, BLACK, WHITE], 361, p=[1 - share, share / 2, share / 2]) for _ in range(count)]
