"""Families of nets by name, and `build_net`."""

from collections.abc import Sequence

from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.gonn import GonnNet
from gonn_core.nets.init import Draws

FAMILIES = {"gonn": GonnNet}
"""`net.family` -> class made from (net, plane_names, draws)."""


def build_net(net: NetConfig, plane_names: Sequence[str], init_seed: int) -> nn.Module:
    """A net with its initial weights, float32 on the CPU, in training mode: planes (N, C, 19, 19) -> logits (N, 361).

    C = len(plane_names). Weights depend on `init_seed`, their own name and (in the stem) the plane's name only. Raises SettingError
    when widths and depth do not fit the configuration.
    """
    return make_net(net, plane_names, Draws(init_seed))


def make_net(net: NetConfig, plane_names: Sequence[str], draws) -> nn.Module:
    """As `build_net`, initial weights from `draws` (`Draws` or `ShapesOnly`)."""
    return FAMILIES[net.family](net, plane_names, draws)
