"""`Trainer`: a net, its optimiser and its counters; one call, one step. Its state can be taken out and put back bit for
bit.

With it what follows training: averaged weights, after the lczero fork's stochastic weight averaging (spec: other
systems 3.2), which are evaluated and kept while training continues from the raw weights; Lookahead, whose slow weights
training returns to; and a learning rate that is halved when the training loss stops falling (spec: other systems 4.5).
"""

import copy
from collections import defaultdict
from collections.abc import Mapping

import torch

from gonn_core.config import ScheduleConfig, TrialConfig
from gonn_core.nets import PolicyNet, trial_net
from gonn_core.settings.training import AveragingConfig, LookaheadConfig
from gonn_core.training.batches import Batch
from gonn_core.training.compiling import Compile, check_graphs, compiled_body
from gonn_core.training.objective import LossSums, Objective, split
from gonn_core.training.optimiser import make_optimiser
from gonn_core.training.schedule import learning_rate, ramp_thirds
from gonn_core.training.selection import Selection

MEMORY_FORMATS = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format}


class Diverged(RuntimeError):
    """The training loss is above 1e6, from where no net came back, or no number."""


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
        layout = MEMORY_FORMATS[memory_format]
        if net is None:
            net = trial_net(config).to(device=device, memory_format=layout)  # type: ignore[call-overload]
        self.net: PolicyNet = net.train()
        self._is_compiled = compile != "none"
        self._objective = Objective(config, self.net, compiled_body(self.net.body, compile, device.type))
        self._optimiser = make_optimiser(self.net, training.optimiser, rows)
        self._selection = Selection(config, rows, device, layout) if training.hardest < 1 else None
        self._lookahead = Lookahead(training.lookahead, self.net) if training.lookahead.every else None
        self._stalling = StallHalving(training.schedule, device) if training.schedule.kind == "stall_halving" else None
        self._average = Average(training.averaging, self.net) if training.averaging.every else None
        followers = {
            "stall": self._stalling,
            "average": self._average,
            "lookahead": self._lookahead,
            "selection": self._selection,
        }
        self._followers = {name: part for name, part in followers.items() if part is not None}
        heads = self.net.auxiliary
        answering = () if heads is None else heads.answering
        self._sums = LossSums(heads or (), answering, not self._objective.is_nats, device)

    @property
    def evaluated_net(self) -> PolicyNet:
        """The net to evaluate and to keep: the averaged one where weights are averaged, from the first time on; else
        `net`."""
        return self._average.net if self._average is not None and self._average.count else self.net

    def warm_up(self, batch: Batch) -> None:
        """Compile what is to be compiled, for all sizes of steps, on a batch; nothing else happens. Nothing at all
        where nothing is compiled."""
        if self._is_compiled:
            before = {name: tensor.clone() for name, tensor in self.net.state_dict().items()}
            training = self.config.training
            parts = [part for parts in ramp_thirds(training, self.samples) for part in split(batch, parts)]
            for part in {len(part.targets): part for part in parts}.values():
                learned = part.part(slice(int(len(part.targets) * training.hardest)))
                self._objective.backward(self.net, learned, self.samples)
                self._optimiser.zero_grad()
            self.net.load_state_dict(before)  # statistics of norms, passes of dropout

    def step(self, batch: Batch) -> torch.Tensor:
        """The updates on one batch: one, or several in the first part of a `batch_ramp`. Returns the mean loss that the
        last one minimises (by default cross-entropy in nats), a scalar on the device."""
        parts, *_ = ramp_thirds(self.config.training, self.samples)
        for part in split(batch, parts) if parts > 1 else (batch,):
            loss = self._update(part, parts**-0.5)
        steps = self.samples // self.config.training.batch_size
        if self._lookahead is not None:
            self._lookahead.step(steps)
        if self._average is not None:
            self._average.step(steps)
        return loss

    def _update(self, batch: Batch, factor: float) -> torch.Tensor:
        training, count = self.config.training, len(batch.targets)
        self.rate = factor * learning_rate(training, self.samples) * (self._stalling.factor if self._stalling else 1.0)
        if self._selection is not None:
            batch = self._selection.hardest(batch, self.rate / training.optimiser.learning_rate)
        if self._lookahead is not None:
            self.rate /= training.lookahead.share  # of each way only that share stays (as in KataGo's train.py)
        self._optimiser.zero_grad()
        losses = self._objective.backward(self.net, batch, self.samples)
        self._optimiser.step(self.rate)
        self.samples += count
        self._sums.add(losses, len(batch.targets))
        if self._stalling:
            self._stalling.add(losses.total, count)
        return losses.total

    def train_means(self) -> dict[str, float]:
        """Means over the training samples since the last `forget_loss`, by name: `LossSums.means`. Nats and accuracy
        are over the points that the training's softmax is over (`mask_illegal`), on the weights of each step. Raises
        Diverged when nats or loss is above 1e6 or no number."""
        means = self._sums.means()
        for name in ("nats", "loss"):
            if self._sums.samples and not means.get(name, 0.0) < 1e6:  # or NaN
                problem = f"training {name} is {means[name]} at {self.samples:,} samples"
                raise Diverged(f"{problem} (learning rate {self.rate:g})")
        return means

    def forget_loss(self) -> None:
        """Start new means of the training losses."""
        self._sums.forget()

    def state(self) -> dict[str, torch.Tensor]:
        """Everything that later steps depend on (the tensors themselves): `net.*`, `momentum.*` (the optimiser's
        moments), `loss.*` (the sums since `forget_loss`), `samples`, and `stall.*`, `average.*`, `lookahead.*`,
        `selection.*` where the configuration has them."""
        groups = {"net": self.net.state_dict(), "momentum": self._optimiser.state(), "loss": self._sums.state()}
        groups |= {name: part.state() for name, part in self._followers.items()}
        tensors = {f"{group}.{name}": tensor for group, members in groups.items() for name, tensor in members.items()}
        return {**tensors, "samples": torch.tensor(self.samples)}

    def start_from(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Begin with another net's weights and statistics of planes."""
        self.net.load_state_dict(weights)
        if self._lookahead is not None:
            self._lookahead.load_state(self.net.state_dict())

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned. Raises ValueError when it is of another net."""
        groups: dict[str, dict[str, torch.Tensor]] = defaultdict(dict)
        for name, tensor in state.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = tensor
        try:
            self.net.load_state_dict(groups["net"])
        except RuntimeError as error:
            raise ValueError(f"weights of another net: {error}") from None
        self._optimiser.load_state(groups["momentum"])
        self._sums.load_state(groups["loss"])
        for name, part in self._followers.items():
            part.load_state(groups[name])
        self.samples = int(state["samples"])


class Average:
    """Running average of a net: average <- (n average + net)/(n + 1), where n counts the nets that entered, `window` at
    most.

    So the first one is taken as it is, and in the long run the newest weighs 1/(window + 1). Everything in the net's
    state is averaged, the statistics of batch normalisation too; whole numbers (counters) are taken from the newest.
    """

    def __init__(self, config: AveragingConfig, net: PolicyNet):
        self._config, self._source, self.count = config, net, 0
        self.net = copy.deepcopy(net).eval()

    @torch.no_grad()
    def step(self, steps: int) -> None:
        """To be called after each step of training; `steps`: how many there have been."""
        if steps % self._config.every:
            return
        newest = self._source.state_dict()
        for name, mean in self.net.state_dict().items():
            if mean.is_floating_point():
                mean.lerp_(newest[name], 1 / (self.count + 1))
            else:
                mean.copy_(newest[name])
        self.count = min(self.count + 1, self._config.window)

    def state(self) -> dict[str, torch.Tensor]:
        """`count` and `net.*` (the tensors themselves)."""
        return {
            "count": torch.tensor(self.count),
            **{f"net.{name}": tensor for name, tensor in self.net.state_dict().items()},
        }

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned."""
        self.count = int(state["count"])
        self.net.load_state_dict(
            {name.removeprefix("net."): tensor for name, tensor in state.items() if name != "count"}
        )


class Lookahead:
    """Slow weights: every so many steps they go `share` of the way to the trained ones, which then continue from
    there (Zhang and others 2019)."""

    def __init__(self, config: LookaheadConfig, net: PolicyNet):
        self._config, self._fast = config, dict(net.named_parameters())
        self._slow = {name: values.detach().clone() for name, values in self._fast.items()}

    @torch.no_grad()
    def step(self, steps: int) -> None:
        """To be called after each step of training; `steps`: how many there have been."""
        if steps % self._config.every:
            return
        for name, slow in self._slow.items():
            self._fast[name].copy_(slow.lerp_(self._fast[name], self._config.share))

    def state(self) -> dict[str, torch.Tensor]:
        """The slow weights by parameter name (the tensors themselves)."""
        return dict(self._slow)

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned."""
        for name, slow in self._slow.items():
            slow.copy_(state[name])


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
        numbers = {"samples": self._samples, "halvings": self._halvings}
        return {
            "sum": self._sum,
            "previous": torch.tensor(self._previous, dtype=torch.float64),
            **{name: torch.tensor(number) for name, number in numbers.items()},
        }

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned."""
        self._sum.copy_(state["sum"])
        self._samples, self._halvings = int(state["samples"]), int(state["halvings"])
        self._previous = float(state["previous"])
