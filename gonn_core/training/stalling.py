"""A learning rate that is halved when the training loss stops falling (spec: other systems 4.5)."""

from collections.abc import Mapping

import torch

from gonn_core.config import ScheduleConfig

SMALLEST = 2.0**-10
"""Share of the first rate below which it is too small to change anything: training stops (ours; the document gives no
number)."""


class StallHalving:
    """Mean loss of each window of `stall_window` samples against the window before; where it is above, the rate is
    halved.

    No patience, no smoothing: two windows are compared. A window ends with the first whole batch that fills it. The
    document stops when the rate is too small; here, where arms train equally long, the rate is 0 from there on.
    """

    def __init__(self, config: ScheduleConfig, device: torch.device):
        self._window = config.stall_window
        # on the device, so that it is read once per window, not per step
        self._sum = torch.zeros((), dtype=torch.float64, device=device)
        self._samples = 0
        self._previous = float("inf")
        self._halvings = 0

    @property
    def factor(self) -> float:
        """Share of the first rate that is left."""
        share = 0.5**self._halvings
        return share if share >= SMALLEST else 0.0

    def add(self, loss: torch.Tensor, samples: int) -> None:
        """The mean training loss of a step on `samples` samples."""
        self._sum += loss.double() * samples
        self._samples += samples
        if self._samples < self._window:
            return
        mean = float(self._sum) / self._samples
        if mean > self._previous:
            self._halvings += 1
        self._previous = mean
        self._sum.zero_()
        self._samples = 0

    def state(self) -> dict[str, torch.Tensor]:
        """sum, samples, previous, halvings."""
        previous = torch.tensor(self._previous, dtype=torch.float64)
        return {
            "sum": self._sum,
            "samples": torch.tensor(self._samples),
            "previous": previous,
            "halvings": torch.tensor(self._halvings),
        }

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned."""
        self._sum.copy_(state["sum"])
        self._samples, self._halvings = int(state["samples"]), int(state["halvings"])
        self._previous = float(state["previous"])
