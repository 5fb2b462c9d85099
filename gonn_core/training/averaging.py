"""Weights averaged along training, after the lczero fork's stochastic weight averaging (spec: other systems 3.2).

Training goes on from the raw weights; the average is what is evaluated and kept.
"""

import copy
from collections.abc import Mapping

import torch

from gonn_core.nets import PolicyNet
from gonn_core.settings.training import AveragingConfig


class Average:
    """Running average of a net: average <- (n average + net)/(n + 1), where n counts the nets that entered, `window` at
    most.

    So the first one is taken as it is, and in the long run the newest weighs 1/(window + 1). Everything in the net's
    state is averaged, the statistics of batch normalisation too; whole numbers (counters) are taken from the newest.
    """

    def __init__(self, config: AveragingConfig, net: PolicyNet):
        self._config, self._source, self._count = config, net, 0
        self.net = copy.deepcopy(net).eval()

    @property
    def begun(self) -> bool:
        """Whether any weights have entered."""
        return self._count > 0

    @torch.no_grad()
    def step(self, steps: int) -> None:
        """To be called after each step of training; `steps`: how many there have been."""
        if steps % self._config.every:
            return
        newest = self._source.state_dict()
        for name, mean in self.net.state_dict().items():
            if mean.is_floating_point():
                mean.lerp_(newest[name], 1 / (self._count + 1))
            else:
                mean.copy_(newest[name])
        self._count = min(self._count + 1, self._config.window)

    def state(self) -> dict[str, torch.Tensor]:
        """`count` and `net.*` (the tensors themselves)."""
        return {
            "count": torch.tensor(self._count),
            **{f"net.{name}": tensor for name, tensor in self.net.state_dict().items()},
        }

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned."""
        self._count = int(state["count"])
        self.net.load_state_dict(
            {name.removeprefix("net."): tensor for name, tensor in state.items() if name != "count"}
        )
