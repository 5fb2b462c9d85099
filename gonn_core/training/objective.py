"""What a trial minimises: the policy's loss over its output planes and the weighted losses of auxiliary heads; and the
training metrics that it logs (spec: other systems 3.6, 3.9).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import reduce
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import torch
import torch.nn.functional as F

from gonn_core.config import TrainingConfig, TrialConfig
from gonn_core.errors import SettingError
from gonn_core.nets import PolicyNet
from gonn_core.nets.auxiliary import HeadLoss
from gonn_core.nets.parts.norm import BatchNorm
from gonn_core.training.batches import Batch

NONE = -1
"""Target of an output plane that has none: a pass, or no move any more."""


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    """Mean of -log softmax(logits)[target] over the batch, in fp32 (spec: GoNN 4.3); `reduction` as in PyTorch.

    logits (N, 361) of any floating type, targets (N,) int64 in 0..360.
    """
    return F.cross_entropy(logits.float(), targets, reduction=reduction)


def squared_error(logits: torch.Tensor, targets: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    """Sum over points of (softmax(logits) - one-hot target)^2, mean over the batch, in fp32; shapes as in
    `cross_entropy`.

    One definition for both documents that train on it, neither of which gives the normalisation (spec: GoNN 4.4, other
    systems 4.4).
    """
    p = logits.float().softmax(1)
    errors = p.square().sum(1) - 2 * p.gather(1, targets[:, None]).squeeze(1) + 1
    return errors.mean() if reduction == "mean" else errors


LOSSES = {"cross_entropy": cross_entropy, "squared_error": squared_error}
"""`training.loss` -> function of (logits, targets, reduction)."""

PLANE_WEIGHTS: dict[str, Callable[[int], list[float]]] = {
    "mean": lambda planes: [1 / planes] * planes,
    "sum": lambda planes: [1.0] * planes,
    "harmonic": lambda planes: [1 / k for k in range(1, planes + 1)],
}
"""`training.plane_weights` -> weights of the losses of so many output planes."""


def legal_only(logits: torch.Tensor, illegal: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Logits (N, 361) with -inf where `illegal` (N, 361) bool, except at the move played: they get no probability and
    no gradient."""
    hidden = illegal.scatter(1, targets[:, None], False)
    return logits.float().masked_fill(hidden, -torch.inf)


def future_losses(kind: str, logits: torch.Tensor, future: torch.Tensor, counts: torch.Tensor) -> list[torch.Tensor]:
    """Losses of the output planes after the first: each the sum over the positions that have such a move, divided by
    its count.

    logits (N, K-1, 361); future (N, K-1) int64, NONE where there is no such move; counts (K-1,): how many positions of
    the whole batch have one.
    """
    losses = []
    for plane in range(logits.shape[1]):
        targets = future[:, plane]
        errors = LOSSES[kind](logits[:, plane], targets.clamp(min=0), "none")
        losses.append(errors.where(targets != NONE, 0.0).sum() / counts[plane])
    return losses


def future_counts(extras: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """(K-1,) How many positions of a batch have a target in each output plane after the first, at least 1."""
    return (extras["future"] != NONE).sum(0).clamp(min=1)


class Losses(NamedTuple):
    """Scalars on the device. total: what is minimised, with its graph. Without one: nats, cross-entropy of the next
    move; hits, positions whose move is the policy's first choice; heads, the losses of each auxiliary head."""

    total: torch.Tensor
    nats: torch.Tensor
    hits: torch.Tensor
    heads: Mapping[str, HeadLoss] = MappingProxyType({})


class Objective:
    """The loss of a configuration's net on a batch, by the number of samples that have been seen."""

    def __init__(self, config: TrialConfig, net: PolicyNet, body: Callable[[torch.Tensor], torch.Tensor] | None = None):
        """body: what computes `net.body`; None: itself. Raises SettingError for settings that cannot work with this
        net."""
        self._body = body or net.body
        self._training, self._planes = config.training, config.net.residual.output_planes
        self._weights = {name: weight for name, weight in config.training.auxiliary.model_dump().items() if weight}
        training = config.training
        if training.loss_from >= training.samples:
            problem, valid = f"{training.loss} would never be trained on", f"below samples ({training.samples})"
            raise SettingError("training.loss_from", training.loss_from, problem, valid)
        if training.batch_splits > 1:
            reasons = {
                "batch normalisation would see other statistics": any(isinstance(m, BatchNorm) for m in net.modules()),
                "an auxiliary loss is a mean over what a part happens to hold": bool(self._weights),
                "dropout would draw other masks": config.net.conv.dropout > 0,
            }
            if wrong := [reason for reason, holds in reasons.items() if holds]:
                problem = f"not equal to the whole batch: {wrong[0]}"
                raise SettingError("training.batch_splits", training.batch_splits, problem, "1")

    @property
    def is_nats(self) -> bool:
        """Whether the loss minimised is the next move's cross-entropy and nothing else, in a net of one output
        plane."""
        training = self._training
        plain = training.loss == "cross_entropy" and training.policy_weight == 1 and not training.label_smoothing
        return plain and self._planes == 1 and not self._weights

    def backward(self, net: PolicyNet, batch: Batch, samples: int) -> Losses:
        """Gradients of the batch's mean loss, added up over `batch_splits` parts of it; the losses, detached."""
        training = self._training
        if training.batch_splits == 1:
            losses = self._losses(net, batch, batch, samples)
            losses.total.backward()
            return losses._replace(total=losses.total.detach())
        done = []
        for part in split(batch, training.batch_splits):
            losses = self._losses(net, part, batch, samples)
            losses.total.backward()
            done.append((losses.total.detach(), losses.nats, losses.hits))  # no heads: refused above
        total, nats, hits = (torch.stack(values).sum() for values in zip(*done, strict=True))
        return Losses(total, nats, hits)

    def _losses(self, net: PolicyNet, part: Batch, whole: Batch, samples: int) -> Losses:
        """The part's share of the whole batch's mean losses."""
        training = self._training
        with torch.autocast(part.planes.device.type, torch.bfloat16, enabled=training.precision == "bf16"):
            body = self._body(part.planes)
            with nullcontext() if training.policy_weight else torch.no_grad():
                policies = net.policies(body)
            auxiliary = {} if net.auxiliary is None else net.auxiliary.losses(body, part)
        total, nats, hits, _ = self._policy_losses(policies, part, whole, samples)
        if training.policy_weight != 1:
            total = training.policy_weight * total
        for name, weight in self._weights.items():
            total = total + weight * auxiliary[name].loss
        heads = {name: head._replace(loss=head.loss.detach()) for name, head in auxiliary.items()}
        return Losses(total, nats, hits, heads)

    def _policy_losses(self, policies: torch.Tensor, part: Batch, whole: Batch, samples: int) -> Losses:
        training, planes = self._training, policies.shape[1]
        kind = loss_kind(training, samples)
        logits = policies[:, 0]
        if training.mask_illegal:
            logits = legal_only(logits, part.extras["illegal"], part.targets)
        share = len(part.targets) / len(whole.targets)
        total = _scaled(LOSSES[kind](logits, part.targets), share)
        if kind == "cross_entropy":
            nats = total.detach()
        else:
            with torch.no_grad():
                nats = _scaled(cross_entropy(logits, part.targets), share)
        if (spread := training.label_smoothing) and kind == "cross_entropy":
            total = (1 - spread) * total - spread * share * logits.float().log_softmax(1).mean()
        if planes > 1 and training.policy_weight:
            later = future_losses(kind, policies[:, 1:], part.extras["future"], future_counts(whole.extras))
            weights = PLANE_WEIGHTS[training.plane_weights](planes)
            total = reduce(torch.add, (w * loss for w, loss in zip(weights, (total, *later), strict=True)))
        return Losses(total, nats, (logits.detach().argmax(1) == part.targets).sum())


def loss_kind(training: TrainingConfig, samples: int) -> str:
    """The policy's loss in the step that starts when `samples` samples have been seen."""
    return training.loss if samples >= training.loss_from else "cross_entropy"


def split(batch: Batch, parts: int) -> list[Batch]:
    """The batch in `parts` parts, in order, of sizes that differ by one at most."""
    ends = [len(batch.targets) * part // parts for part in range(parts + 1)]
    return [batch.part(slice(*each)) for each in pairwise(ends)]


def _scaled(loss: torch.Tensor, share: float) -> torch.Tensor:
    return loss if share == 1 else share * loss


class LossSums:
    """Sums over the training samples since `forget`, on the device in float64, so that no step waits for them.

    heads: names of the auxiliary heads; answering: those of them that choose one of several answers. minimised: whether
    the loss that is minimised differs from the next move's cross-entropy.
    """

    def __init__(self, heads: Iterable[str], answering: Iterable[str], minimised: bool, device: torch.device):
        self._heads, self._answering, self.samples = tuple(heads), tuple(answering), 0
        seen = ["top1", *self._heads, *(f"{name}_{part}" for name in self._answering for part in ("right", "asked"))]
        names = ["sum", *(["minimised"] if minimised else []), *(f"seen.{name}" for name in seen)]
        self._sums = {name: torch.zeros((), dtype=torch.float64, device=device) for name in names}

    def add(self, losses: Losses, count: int) -> None:
        """One batch of `count` samples."""
        self._sums["sum"] += losses.nats.double() * count
        if "minimised" in self._sums:
            self._sums["minimised"] += losses.total.double() * count
        self._sums["seen.top1"] += losses.hits
        for name in self._heads:
            self._sums[f"seen.{name}"] += losses.heads[name].loss.double() * count
        for name in self._answering:
            _, right, asked = losses.heads[name]
            assert right is not None and asked is not None  # its head answers
            self._sums[f"seen.{name}_right"] += right
            self._sums[f"seen.{name}_asked"] += asked
        self.samples += count

    def means(self) -> dict[str, float]:
        """nats: the next move's cross-entropy, nan without samples; loss: what is minimised, where that differs; top1:
        share of the samples whose move was the policy's first choice; by head its loss, not weighted, and
        `<head>_accuracy`, the share of right answers among those that are known."""
        if not self.samples:
            return {"nats": math.nan}
        sums = {"nats": "sum", "loss": "minimised"} | {name: f"seen.{name}" for name in ("top1", *self._heads)}
        means = {name: float(self._sums[key]) / self.samples for name, key in sums.items() if key in self._sums}
        for name in self._answering:
            if asked := float(self._sums[f"seen.{name}_asked"]):
                means[f"{name}_accuracy"] = float(self._sums[f"seen.{name}_right"]) / asked
        return means

    def forget(self) -> None:
        """Start new sums."""
        for total in self._sums.values():
            total.zero_()
        self.samples = 0

    def state(self) -> dict[str, torch.Tensor]:
        """The sums (the tensors themselves) and the number of samples, which older versions count twice."""
        return {**self._sums, **dict.fromkeys(("samples", "seen.samples"), torch.tensor(self.samples))}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned."""
        for name, total in self._sums.items():
            total.copy_(state[name])
        self.samples = int(state["samples"])
