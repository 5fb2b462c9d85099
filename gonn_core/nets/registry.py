"""Families of nets by name, and how a net is made.

Every family's net is a module with `forward(planes) -> logits (N, 361)`, and, for training,
`body(planes) -> (N, body_width, 19, 19)`, `policies(body) -> (N, K, 361)` float32 (the next move and, where a family
has output planes for them, the moves after it) and `body_width`. forward is the first of the policies of the body. The
body reads its planes through `normalise.normalised`, and pads them, if it pads its input, after that.
"""

from collections.abc import Callable, Sequence

import numpy as np
from torch import nn

from gonn_core.config import NetConfig, TrialConfig
from gonn_core.features.sets import padding, plane_names
from gonn_core.nets.auxiliary.attached import AuxiliaryHeads, wants_heads
from gonn_core.nets.conv.net import ConvNet
from gonn_core.nets.encoder.net import EncoderNet
from gonn_core.nets.gonn.net import GonnNet
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.normalise import Normalise
from gonn_core.nets.residual.net import ResidualNet

FAMILIES: dict[str, Callable[..., nn.Module]] = {
    "conv": ConvNet,
    "encoder": lambda net, names, draws, beyond_edge: EncoderNet(net, names, draws),
    "gonn": lambda net, names, draws, beyond_edge: GonnNet(net, names, draws),
    "residual": ResidualNet,
}
"""`net.family` -> what makes a net from (net, plane_names, draws, beyond_edge)."""


def trial_net(config: TrialConfig) -> nn.Module:
    """The net that a trial starts from, float32 on the CPU, in training mode. Raises SettingError as `build_net`.

    Where planes are normalised it has a `normalise`, the identity until the trial sets it; where auxiliary losses have
    a weight, an `auxiliary` with their heads.
    """
    names = plane_names(config.features)
    net = build_net(config.net, names, config.training.init_seed, padding(config.features))
    if config.features.normalisation != "none":
        net.normalise = Normalise(len(names))
    if wants_heads(config):
        net.auxiliary = AuxiliaryHeads(config, net.body_width, Draws(config.training.init_seed))
    return net


def build_net(
    net: NetConfig, plane_names: Sequence[str], init_seed: int, beyond_edge: np.ndarray | None = None
) -> nn.Module:
    """A net with its initial weights, float32 on the CPU, in training mode: planes (N, C, 19, 19) -> logits (N, 361).

    C = len(plane_names). beyond_edge (C,): what a net that pads its input puts beyond the edge of the board; zeros
    unless given. Weights depend on `init_seed`, their own name and (in the stem) the plane's name only. Raises
    SettingError when widths and depth do not fit the configuration.
    """
    return make_net(net, plane_names, Draws(init_seed), beyond_edge)


def make_net(net: NetConfig, plane_names: Sequence[str], draws, beyond_edge: np.ndarray | None = None) -> nn.Module:
    """As `build_net`, initial weights from `draws` (`Draws` or `ShapesOnly`)."""
    beyond_edge = np.zeros(len(plane_names), np.float32) if beyond_edge is None else beyond_edge
    return FAMILIES[net.family](net, plane_names, draws, beyond_edge)
