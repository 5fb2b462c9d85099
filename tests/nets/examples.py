"""Nets and planes that the tests of this folder share."""

import torch

from gonn_core.config import HeadConfig, NetConfig, StemConfig, TrunkConfig
from gonn_core.features.gonn import PLANE_NAMES
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
    """`net` with fields replaced: plain ones directly, sections by dicts of theirs, e.g. changed(B5, trunk={"width": 12})."""
    values = {name: getattr(net, name).model_copy(update=part) if isinstance(part, dict) else part for name, part in parts.items()}
    return net.model_copy(update=values)


B12 = changed(B5, trunk={"blocks": 12, "dilations": (2,)})
"""The published 12-block net."""

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
