"""What training shows of itself beside its loss: accuracy on the training positions, the loss of each auxiliary head
(spec: other systems 3.6, 3.9).

Summed on the device: no step waits for a number to reach the host, and no number of training depends on any of them.
"""

from collections.abc import Iterable, Mapping

import torch

from gonn_core.training.objective import Losses

_PREFIX = "seen."


class Tally:
    """Sums over the training samples since `forget`, with the number of samples that they are of.

    heads: names of the auxiliary heads; answering: those of them that choose one of several answers.
    """

    def __init__(self, heads: Iterable[str], answering: Iterable[str], device: torch.device):
        self._heads, self._answering, self._samples = tuple(heads), tuple(answering), 0
        names = ("top1", *self._heads, *(f"{name}_{part}" for name in self._answering for part in ("right", "asked")))
        self._sums = {name: torch.zeros((), dtype=torch.float64, device=device) for name in names}

    def add(self, losses: Losses, count: int) -> None:
        """One batch of `count` samples."""
        self._sums["top1"] += losses.hits
        for name in self._heads:
            self._sums[name] += losses.heads[name].loss.double() * count
        for name in self._answering:
            _, right, asked = losses.heads[name]
            assert right is not None and asked is not None  # its head answers
            self._sums[f"{name}_right"] += right
            self._sums[f"{name}_asked"] += asked
        self._samples += count

    def means(self) -> dict[str, float]:
        """top1: share of the samples whose move was the policy's first choice; by head its loss, not weighted, and
        `<head>_accuracy`, the share of the answers that were right among those that are known. What no sample was seen
        of is left out."""
        if not self._samples:
            return {}
        means = {name: float(self._sums[name]) / self._samples for name in ("top1", *self._heads)}
        for name in self._answering:
            if asked := float(self._sums[f"{name}_asked"]):
                means[f"{name}_accuracy"] = float(self._sums[f"{name}_right"]) / asked
        return means

    def forget(self) -> None:
        """Start new sums."""
        for total in self._sums.values():
            total.zero_()
        self._samples = 0

    def state(self) -> dict[str, torch.Tensor]:
        """`seen.samples` and `seen.<sum>` (the tensors themselves)."""
        sums = {_PREFIX + name: total for name, total in self._sums.items()}
        return {**sums, f"{_PREFIX}samples": torch.tensor(self._samples)}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned; a state from before these sums were kept starts them here."""
        self.forget()
        if f"{_PREFIX}samples" not in state:
            return
        for name, total in self._sums.items():
            total.copy_(state[_PREFIX + name])
        self._samples = int(state[f"{_PREFIX}samples"])
