"""`Trainer`: a net, its optimiser and its counters; one call, one step. Its state can be taken out and put back bit for bit."""

import math
from collections.abc import Mapping

import torch

from gonn_core.config import TrialConfig
from gonn_core.nets import decayed, gradient_factors, trial_net

from .batches import Batch
from .loss import cross_entropy
from .optimiser import Sgd, decay_coefficient
from .schedule import learning_rate

MEMORY_FORMATS = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}


class Diverged(RuntimeError):
    """The training loss is no longer a finite number."""


class Trainer:
    """Trains the net of a configuration on a view of `rows` positions.

    samples: positions trained on. Memory format and device change speed and rounding, not the method.
    """

    def __init__(self, config: TrialConfig, rows: int, device: torch.device, memory_format: str):
        self.config, self.device, self.samples = config, device, 0
        net = trial_net(config)
        self.net = net.to(device=device, memory_format=MEMORY_FORMATS[memory_format]).train()
        optimiser = config.training.optimiser
        self._sgd = Sgd(
            dict(self.net.named_parameters()),
            optimiser,
            decay_coefficient(optimiser, rows),
            decayed(self.net),
            gradient_factors(self.net, optimiser),
        )
        # Summed on the device, in float64: no step waits for the loss to reach the host.
        self._loss_sum = torch.zeros((), dtype=torch.float64, device=device)
        self._loss_samples = 0

    def step(self, batch: Batch) -> torch.Tensor:
        """One update on one batch. Returns its mean loss in nats, a scalar on the device."""
        training = self.config.training
        self._sgd.zero_grad()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=training.precision == "bf16"):
            logits = self.net(batch.planes)
        loss = cross_entropy(logits, batch.targets)
        loss.backward()
        self._sgd.step(learning_rate(training, self.samples))
        count = len(batch.targets)
        self.samples += count
        self._loss_sum += loss.detach().double() * count
        self._loss_samples += count
        return loss.detach()

    def train_nats(self) -> float:
        """Mean training loss since the last `forget_loss`, nan before the first step. Raises Diverged when it is not finite."""
        if not self._loss_samples:
            return math.nan
        nats = float(self._loss_sum) / self._loss_samples
        if not math.isfinite(nats):
            raise Diverged(f"training loss is {nats} at {self.samples:,} samples (learning rate {learning_rate(self.config.training, self.samples):g})")
        return nats

    def forget_loss(self) -> None:
        """Start a new mean of the training loss."""
        self._loss_sum.zero_()
        self._loss_samples = 0

    def state(self) -> dict[str, torch.Tensor]:
        """Everything that later steps depend on: `net.*`, `momentum.*`, `loss.sum`, `loss.samples`, `samples` (the tensors themselves)."""
        counters = {"loss.sum": self._loss_sum, "loss.samples": torch.tensor(self._loss_samples), "samples": torch.tensor(self.samples)}
        momentum = {f"momentum.{name}": tensor for name, tensor in self._sgd.state().items()}
        return {**{f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}, **momentum, **counters}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned. Raises ValueError when it is of another net."""
        groups: dict[str, dict[str, torch.Tensor]] = {"net": {}, "momentum": {}, "loss": {}}
        for name, tensor in state.items():
            if name != "samples":
                group, _, rest = name.partition(".")
                groups[group][rest] = tensor
        try:
            self.net.load_state_dict(groups["net"])
        except RuntimeError as error:
            raise ValueError(f"weights of another net: {error}") from None
        self._sgd.load_state(groups["momentum"])
        self._loss_sum.copy_(groups["loss"]["sum"])
        self._loss_samples = int(groups["loss"]["samples"])
        self.samples = int(state["samples"])
