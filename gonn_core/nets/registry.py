"""Families of nets by name, and how a net is made.

What every net is, whatever its family: `policy_net.PolicyNet`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from gonn_core.config import NetConfig, TrialConfig
from gonn_core.features.sets import padding, plane_names
from gonn_core.nets.auxiliary import AuxiliaryHeads, wants_heads
from gonn_core.nets.conv.net import ConvNet
from gonn_core.nets.encoder.net import EncoderNet
from gonn_core.nets.gonn.net import GonnNet
from gonn_core.nets.init import Draws
from gonn_core.nets.policy_net import Normalise, PolicyNet
from gonn_core.nets.residual import ResidualNet

FAMILIES: dict[str, Callable[..., PolicyNet]] = {
    "conv": ConvNet,
    "encoder": EncoderNet,
    "gonn": GonnNet,
    "residual": ResidualNet,
}
"""`net.family` -> its class, made from (net, plane_names, draws, beyond_edge) as `build_net` says."""


def trial_net(config: TrialConfig, draws: Draws | None = None) -> PolicyNet:
    """The net that a trial starts from, float32 on the CPU, in training mode. Raises SettingError as `build_net`.
    draws: its initial weights, those of the configuration's seed unless given.

    Where planes are normalised it has a `normalise`, the identity until the trial sets it; where auxiliary losses have
    a weight, an `auxiliary` with their heads.
    """
    names = plane_names(config.features)
    draws = Draws(config.training.init_seed) if draws is None else draws
    net = build_net(config.net, names, draws, padding(config.features))
    if config.features.normalisation != "none":
        net.normalise = Normalise(len(names), config.features.normalisation == "whitened")
    if wants_heads(config):
        net.auxiliary = AuxiliaryHeads(config, net.body_width, draws)
    return net


def build_net(
    net: NetConfig, plane_names: Sequence[str], draws: Draws | int, beyond_edge: np.ndarray | None = None
) -> PolicyNet:
    """A net with its initial weights, float32 on the CPU, in training mode: planes (N, C, 19, 19) -> logits (N, 361).

    C = len(plane_names). draws: the initial weights, or their seed. beyond_edge (C,): what a net that pads its input
    puts beyond the edge of the board; zeros unless given. Weights depend on the seed, their own name and (in the stem)
    the plane's name only. Raises SettingError when widths and depth do not fit the configuration.
    """
    beyond_edge = np.zeros(len(plane_names), np.float32) if beyond_edge is None else beyond_edge
    return FAMILIES[net.family](net, plane_names, Draws(draws) if isinstance(draws, int) else draws, beyond_edge)
