"""The positions of a batch that are hardest for a small net, which learns all of them at the same time (airbench:
cifar10-airbench96_faster, whose small net is trained before).

The small net is a GoNN net on the same planes, not normalised. It learns by SGD at its own rate, on the configuration's
schedule.
"""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, TrialConfig
from gonn_core.features.sets import padding, plane_names
from gonn_core.nets import PolicyNet, build_net
from gonn_core.nets.init import Draws
from gonn_core.settings.gonn_net import HeadConfig, StemConfig, TrunkConfig
from gonn_core.settings.training import OptimiserConfig
from gonn_core.training.batches import Batch
from gonn_core.training.optimiser import make_optimiser

SMALL_NET = NetConfig(stem=StemConfig(kernel=3), trunk=TrunkConfig(width=16, blocks=1), head=HeadConfig(kernel=3))
SMALL_RATE = 0.1
"""Its first learning rate; it falls as the trained net's."""


def small_net(config: TrialConfig, draws: Draws) -> PolicyNet:
    """The net that chooses positions of a configuration."""
    return build_net(SMALL_NET, plane_names(config.features), draws, padding(config.features))


class Selection:
    """Trains the small net and chooses. rows: positions of the training view."""

    def __init__(self, config: TrialConfig, rows: int, device: torch.device, memory_format: torch.memory_format):
        self._share, net = config.training.hardest, small_net(config, Draws(config.training.init_seed))
        self.net = net.to(device=device, memory_format=memory_format)  # type: ignore[call-overload]
        self._optimiser = make_optimiser(self.net, OptimiserConfig(), rows)

    def hardest(self, batch: Batch, factor: float) -> Batch:
        """A step of the small net on `batch`, at that share of its first rate; the positions with the largest losses
        before it, in the batch's order."""
        self._optimiser.zero_grad()
        losses = F.cross_entropy(self.net(batch.planes), batch.targets, reduction="none")
        losses.mean().backward()
        self._optimiser.step(SMALL_RATE * factor)
        return batch.part(losses.detach().topk(int(len(losses) * self._share)).indices.sort().values)

    def state(self) -> dict[str, torch.Tensor]:
        """`net.*` and `momentum.*` (the tensors themselves)."""
        parts = {"net": self.net.state_dict(), "momentum": self._optimiser.state()}
        return {f"{part}.{name}": tensor for part, members in parts.items() for name, tensor in members.items()}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned."""
        load: dict[str, Callable] = {"net": self.net.load_state_dict, "momentum": self._optimiser.load_state}
        for part, take in load.items():
            take({name.removeprefix(f"{part}."): of for name, of in state.items() if name.startswith(f"{part}.")})
