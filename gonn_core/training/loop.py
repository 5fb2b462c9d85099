"""`Trainer`: a net, its optimiser and its counters; one call, one step. Its state can be taken out and put back bit for
bit."""

import math
from collections.abc import Callable, Mapping

import torch

from gonn_core.compiling.body import Compile, compiled_body
from gonn_core.compiling.graphs import check_graphs
from gonn_core.config import TrialConfig
from gonn_core.nets import PolicyNet, decayed, gradient_factors, trial_net
from gonn_core.training.adamw import AdamW
from gonn_core.training.averaging import Average
from gonn_core.training.batches import Batch
from gonn_core.training.objective import Objective
from gonn_core.training.optimiser import Optimiser, decay_coefficient
from gonn_core.training.schedule import learning_rate
from gonn_core.training.sgd import Sgd
from gonn_core.training.stalling import StallHalving
from gonn_core.training.tally import Tally

MEMORY_FORMATS = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}

OPTIMISERS: dict[str, Callable[..., Optimiser]] = {"sgd": Sgd, "adamw": AdamW}
"""`training.optimiser.kind` -> class."""


class Diverged(RuntimeError):
    """The training loss is no longer a finite number."""


class Trainer:
    """Trains the net of a configuration on a view of `rows` positions.

    samples: positions trained on. rate: learning rate of the last step. Memory format, device and `compile` change
    speed and rounding, not the method. net: one that lies on the device already; made from the configuration unless
    given. Raises SettingError for settings that cannot work together.
    """

    def __init__(
        self,
        config: TrialConfig,
        rows: int,
        device: torch.device,
        memory_format: str,
        net: PolicyNet | None = None,
        compile: Compile = "none",
    ):
        self.config, self.device, self.samples, self.rate = config, device, 0, 0.0
        training = config.training
        if compile == "graphs":
            check_graphs(config)
        if net is None:
            layout = MEMORY_FORMATS[memory_format]
            net = trial_net(config).to(device=device, memory_format=layout)  # type: ignore[call-overload]
        self.net: PolicyNet = net.train()
        self._is_compiled = compile != "none"
        self._objective = Objective(config, self.net, compiled_body(self.net.body, compile, device.type))
        self._optimiser = OPTIMISERS[training.optimiser.kind](
            dict(self.net.named_parameters()),
            training.optimiser,
            decay_coefficient(training.optimiser, rows),
            decayed(self.net),
            gradient_factors(self.net, training.optimiser),
        )
        self._stalling = StallHalving(training.schedule, device) if training.schedule.kind == "stall_halving" else None
        self._average = Average(training.averaging, self.net) if training.averaging.every else None
        # Summed on the device, in float64: no step waits for the loss to reach the host.
        self._nats_sum = torch.zeros((), dtype=torch.float64, device=device)
        self._loss_sum = None if self._objective.is_nats else torch.zeros_like(self._nats_sum)
        self._loss_samples = 0
        heads = self.net.auxiliary
        self._tally = Tally(heads or (), () if heads is None else heads.answering, device)

    @property
    def evaluated_net(self) -> PolicyNet:
        """The net to evaluate and to keep: the averaged one where weights are averaged, from the first time on; else
        `net`."""
        return self._average.net if self._average is not None and self._average.begun else self.net

    def warm_up(self, batch: Batch) -> None:
        """Compile what is to be compiled, on a batch; nothing else happens. Nothing at all where nothing is
        compiled."""
        if self._is_compiled:
            before = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}
            self._objective.backward(self.net, batch, self.samples)
            self._optimiser.zero_grad()
            self.net.load_state_dict(before)  # statistics of norms, passes of dropout

    def step(self, batch: Batch, on_part: Callable[[int], None] | None = None) -> torch.Tensor:
        """One update on one batch. Returns the mean loss that it minimises (by default cross-entropy in nats), a scalar
        on the device. on_part: told how many of several parts of the batch are done, as `Objective.backward` says."""
        training, count = self.config.training, len(batch.targets)
        self._optimiser.zero_grad()
        losses = self._objective.backward(self.net, batch, self.samples, on_part)
        self.rate = learning_rate(training, self.samples) * (self._stalling.factor if self._stalling else 1.0)
        self._optimiser.step(self.rate)
        self.samples += count
        self._nats_sum += losses.nats.double() * count
        if self._loss_sum is not None:
            self._loss_sum += losses.total.double() * count
        self._loss_samples += count
        self._tally.add(losses, count)
        if self._stalling:
            self._stalling.add(losses.total, count)
        if self._average is not None:
            self._average.step(self.samples // training.batch_size)
        return losses.total

    def train_nats(self) -> float:
        """Mean cross-entropy of the next move over the training samples since the last `forget_loss`, nan before the
        first step.

        Over the points that the training's softmax is over (`mask_illegal`). Raises Diverged when it is not finite.
        """
        return self._mean(self._nats_sum)

    def train_loss(self) -> float | None:
        """The same for the loss that is minimised; None where that is `train_nats`."""
        return None if self._loss_sum is None else self._mean(self._loss_sum)

    def train_means(self) -> dict[str, float]:
        """What training shows of itself beside its loss since the last `forget_loss`, by name: `Tally.means`. Accuracy
        is over the points that the training's softmax is over, on the weights of each step."""
        return self._tally.means()

    def check_finite(self) -> None:
        """Raises Diverged when a mean of the training losses since the last `forget_loss` is not finite."""
        self.train_nats()
        self.train_loss()

    def _mean(self, total: torch.Tensor) -> float:
        if not self._loss_samples:
            return math.nan
        mean = float(total) / self._loss_samples
        if not math.isfinite(mean):
            raise Diverged(f"training loss is {mean} at {self.samples:,} samples (learning rate {self.rate:g})")
        return mean

    def forget_loss(self) -> None:
        """Start new means of the training losses."""
        self._nats_sum.zero_()
        if self._loss_sum is not None:
            self._loss_sum.zero_()
        self._loss_samples = 0
        self._tally.forget()

    def state(self) -> dict[str, torch.Tensor]:
        """Everything that later steps depend on (the tensors themselves): `net.*`, `momentum.*` (the optimiser's
        moments), `loss.*` (the sums since `forget_loss`), `samples`, and `stall.*`, `average.*` where the configuration
        has them."""
        groups = {"net": self.net.state_dict(), "momentum": self._optimiser.state(), "loss": self._loss_state()}
        if self._stalling:
            groups["stall"] = self._stalling.state()
        if self._average is not None:
            groups["average"] = self._average.state()
        tensors = {f"{group}.{name}": tensor for group, members in groups.items() for name, tensor in members.items()}
        return {**tensors, "samples": torch.tensor(self.samples)}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned. Raises ValueError when it is of another net."""
        groups: dict[str, dict[str, torch.Tensor]] = {
            group: {} for group in ("net", "momentum", "loss", "stall", "average")
        }
        for name, tensor in state.items():
            if name != "samples":
                group, _, rest = name.partition(".")
                groups[group][rest] = tensor
        try:
            self.net.load_state_dict(groups["net"])
        except RuntimeError as error:
            raise ValueError(f"weights of another net: {error}") from None
        self._optimiser.load_state(groups["momentum"])
        self._nats_sum.copy_(groups["loss"]["sum"])
        if self._loss_sum is not None:
            self._loss_sum.copy_(groups["loss"]["minimised"])
        self._loss_samples = int(groups["loss"]["samples"])
        self._tally.load_state(groups["loss"])
        if self._stalling:
            self._stalling.load_state(groups["stall"])
        if self._average is not None:
            self._average.load_state(groups["average"])
        self.samples = int(state["samples"])

    def _loss_state(self) -> dict[str, torch.Tensor]:
        minimised = {} if self._loss_sum is None else {"minimised": self._loss_sum}
        return {"sum": self._nats_sum, **minimised, "samples": torch.tensor(self._loss_samples), **self._tally.state()}
