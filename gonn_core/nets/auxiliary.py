"""Auxiliary heads on a net's body, one class each, with the loss it trains on (spec: GoNN 3.3; other systems 3.8).

A head has `loss(body, batch)`: body (N, W, 19, 19) of any family, `batch.targets` (N,) the moves played, `batch.extras`
the targets of gonn_core.features.targets. The loss is a float32 scalar, the mean over the batch of each position's
own loss; what has no target (-1) adds nothing to it. Where the document gives no head, the smallest one that fits
stands here: a dense map at each point, or of the mean over the board.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import TrialConfig
from gonn_core.go.points import POINTS
from gonn_core.nets.init import Draws, constant, parameter
from gonn_core.nets.parts.norm import BatchNorm


def wants_heads(config: TrialConfig) -> bool:
    """Whether any auxiliary loss has a weight."""
    return any(config.training.auxiliary.model_dump().values())


OUT_SCALE = 0.5
"""Last maps start at half of a He draw (spec: GoNN 3.3; for the others ours)."""


class Float32Dense(nn.Module):
    """The same map at each point, (N, in, 19, 19) -> (N, out, 361), or of vectors (N, in) -> (N, out); always in
    float32."""

    def __init__(
        self,
        draws: Draws,
        name: str,
        *,
        in_features: int,
        out_features: int,
        bias: bool = True,
        scale: float = OUT_SCALE,
        times: int = POINTS,
    ):
        """times: how often a sample applies it, for counting operations."""
        super().__init__()
        self.times = times
        self.kernel = parameter(scale * draws.he(f"{name}.kernel", (out_features, in_features), in_features))
        self.bias = constant(out_features, 0.0) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast(x.device.type, enabled=False):
            if x.dim() == 2:
                return F.linear(x.float(), self.kernel, self.bias)
            return F.conv2d(x.float(), self.kernel[:, :, None, None], self.bias).flatten(2)

    def multiply_adds(self) -> int:
        return self.times * self.kernel.numel()


class HeadLoss(NamedTuple):
    """Of one head on a batch, scalars: its loss, float32 and not weighted; of a head that chooses one of several
    answers also how many were right, of how many that are known, without a graph."""

    loss: torch.Tensor
    right: torch.Tensor | None = None
    asked: torch.Tensor | None = None


class AuxiliaryHead(nn.Module):
    """A head on the body, with its loss."""

    answers = False
    """Whether it chooses one of several answers for a position, so that it has an accuracy."""

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        """body (N, W, 19, 19), and the batch that it was made from."""
        raise NotImplementedError


class AnsweringHead(AuxiliaryHead):
    """A head that chooses one of several answers for a position. Loss: cross-entropy; an answer that is not known (-1)
    adds nothing."""

    answers = True

    def answering(self, body: torch.Tensor, batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (N, answers) and the answers (N,)."""
        raise NotImplementedError

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        logits, answers = self.answering(body, batch)
        loss = F.cross_entropy(logits, answers, ignore_index=-1, reduction="none").mean()
        return HeadLoss(loss, (logits.argmax(1) == answers).sum(), (answers >= 0).sum())


class PointHead(AuxiliaryHead):
    """One dense map to `outputs` numbers at each point."""

    outputs = 1

    def __init__(self, draws: Draws, name: str, width: int, norm_gamma: bool):
        super().__init__()
        self.out = Float32Dense(draws, f"{name}.out", in_features=width, out_features=self.outputs)


class Pooled(nn.Module):
    """Mean of the body over the board -> hidden layer of 32, ReLU -> `outputs` numbers (our choice: the document names
    the targets only)."""

    hidden = 32

    def __init__(self, draws: Draws, name: str, width: int, outputs: int):
        super().__init__()
        self.inner = Float32Dense(
            draws, f"{name}.inner", in_features=width, out_features=self.hidden, scale=1.0, times=1
        )
        self.out = Float32Dense(draws, f"{name}.out", in_features=self.hidden, out_features=outputs, times=1)

    def forward(self, body: torch.Tensor) -> torch.Tensor:
        return self.out(F.relu(self.inner(body.float().mean((2, 3)))))


class PooledAnswers(AnsweringHead):
    """Chooses one of `outputs` answers from the mean of the body over the board."""

    outputs = 2

    def __init__(self, draws: Draws, name: str, width: int, norm_gamma: bool):
        super().__init__()
        self.pooled = Pooled(draws, f"{name}.pooled", width, self.outputs)

    def known(self, extras) -> torch.Tensor:
        """The answers (N,), -1 where none is known."""
        raise NotImplementedError

    def answering(self, body: torch.Tensor, batch) -> tuple[torch.Tensor, torch.Tensor]:
        return self.pooled(body), self.known(batch.extras)


class Ladders(AuxiliaryHead):
    """Which stones stand in chains that a ladder captures: 3x3 convolution to 24 channels, norm, CReLU, 1x1 convolution
    (spec: GoNN 3.3).

    Loss: sum over the points of the sigmoid's cross-entropy.
    """

    channels = 24

    def __init__(self, draws: Draws, name: str, width: int, norm_gamma: bool):
        super().__init__()
        self.conv = parameter(draws.he(f"{name}.conv", (self.channels, width, 3, 3), 9 * width))
        self.norm = BatchNorm(self.channels, norm_gamma)
        self.out = parameter(OUT_SCALE * draws.he(f"{name}.out", (1, 2 * self.channels, 1, 1), 2 * self.channels))

    def forward(self, body: torch.Tensor) -> torch.Tensor:
        """Logits (N, 361) float32."""
        z = self.norm(F.conv2d(body, self.conv, padding=1))
        z = F.relu(torch.cat((z, -z), 1))
        with torch.autocast(z.device.type, enabled=False):
            return F.conv2d(z.float(), self.out).flatten(1)

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        errors = F.binary_cross_entropy_with_logits(self(body), batch.extras["ladders"].float(), reduction="none")
        return HeadLoss(errors.sum(1).mean())


class NextOccupant(PointHead):
    """Per point the colour of the next stone to come there: none, own, opponent's. Loss: cross-entropy, mean over the
    points."""

    outputs = 3

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        targets = batch.extras["next_occupant"].long()
        return HeadLoss(F.cross_entropy(self.out(body), targets, ignore_index=-1, reduction="none").mean())


class RemovalTime(PointHead):
    """Per stone the class of the opponent's turns until its capture. Loss: cross-entropy, mean over the stones."""

    outputs = 8

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        targets = batch.extras["removal_time"].long()
        errors = F.cross_entropy(self.out(body), targets, ignore_index=-1, reduction="none")
        return HeadLoss((errors.sum(1) / (targets >= 0).sum(1).clamp(min=1)).mean())


class OpponentReply(AnsweringHead):
    """The move after the one played, as a policy: one logit per point. Loss: cross-entropy; a pass or no move has
    none."""

    def __init__(self, draws: Draws, name: str, width: int, norm_gamma: bool):
        super().__init__()
        self.out = Float32Dense(draws, f"{name}.out", in_features=width, out_features=1, bias=False)

    def answering(self, body: torch.Tensor, batch) -> tuple[torch.Tensor, torch.Tensor]:
        return self.out(body)[:, 0], batch.extras["future"][:, 0]


class JointReply(AnsweringHead):
    """The reply to the move played: logit of point j is q_i k_j / sqrt(d), i the move played, d = `size` (ours). Loss
    as `OpponentReply`."""

    size = 32

    def __init__(self, draws: Draws, name: str, width: int, norm_gamma: bool):
        super().__init__()
        self.query = Float32Dense(draws, f"{name}.query", in_features=width, out_features=self.size, scale=1.0, times=1)
        # a bias of the key would be the same for all points
        self.key = Float32Dense(draws, f"{name}.key", in_features=width, out_features=self.size, bias=False, scale=1.0)

    def forward(self, body: torch.Tensor, moves: torch.Tensor) -> torch.Tensor:
        """Logits (N, 361) float32 of the replies to `moves` (N,)."""
        played = body.flatten(2).gather(2, moves[:, None, None].expand(-1, body.shape[1], 1))[:, :, 0]
        query, keys = self.query(played), self.key(body)
        with torch.autocast(body.device.type, enabled=False):
            return torch.einsum("nd,ndp->np", query, keys) / math.sqrt(self.size)

    def answering(self, body: torch.Tensor, batch) -> tuple[torch.Tensor, torch.Tensor]:
        return self(body, batch.targets), batch.extras["future"][:, 0]


class Ownership(PointHead):
    """Per point whose it is at the end. Loss: the sigmoid's cross-entropy over the points known, divided by 361."""

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        owner = batch.extras["ownership"]
        errors = F.binary_cross_entropy_with_logits(self.out(body)[:, 0], owner.clamp(min=0).float(), reduction="none")
        return HeadLoss(errors.where(owner >= 0, 0.0).mean())


class Value(PooledAnswers):
    """Whether the mover wins; games without a winner, drawn ones too, have no answer."""

    def known(self, extras) -> torch.Tensor:
        return extras["value"]


class MovesLeft(AuxiliaryHead):
    """Moves to the end of the game, in units of 20. Loss: Huber, linear from an error of 10 units on."""

    unit, delta = 20.0, 10.0

    def __init__(self, draws: Draws, name: str, width: int, norm_gamma: bool):
        super().__init__()
        self.pooled = Pooled(draws, f"{name}.pooled", width, 1)

    def loss(self, body: torch.Tensor, batch) -> HeadLoss:
        units = batch.extras["moves_left"] / self.unit
        return HeadLoss(F.huber_loss(self.pooled(body)[:, 0], units, delta=self.delta))


class MovesLeftClass(PooledAnswers):
    """Moves to the end of the game as one of 20 classes, 20 moves each, the last one open (classes are ours)."""

    outputs, moves = 20, 20

    def known(self, extras) -> torch.Tensor:
        return (extras["moves_left"] / self.moves).long().clamp(max=self.outputs - 1)


class Score(PooledAnswers):
    """By how much the mover wins, as one of 40 classes, 5 points each, the outer ones open (head and classes are ours);
    games that were not counted have no answer."""

    outputs = 40

    def known(self, extras) -> torch.Tensor:
        return extras["score"]


HEADS: dict[str, Callable[..., AuxiliaryHead]] = {
    "ladders": Ladders,
    "next_occupant": NextOccupant,
    "removal_time": RemovalTime,
    "opponent_reply": OpponentReply,
    "joint_reply": JointReply,
    "ownership": Ownership,
    "value": Value,
    "moves_left": MovesLeft,
    "moves_left_class": MovesLeftClass,
    "score": Score,
}
"""Field of `training.auxiliary` -> class of the head, made from (draws, name, body width, gamma in its norm)."""


class AuxiliaryHeads(nn.ModuleDict):
    """Heads by name, parameters `auxiliary.<name>.…`. Off means absent: no weights that decay, nothing in the
    checkpoint."""

    def __init__(self, config: TrialConfig, body_width: int, draws: Draws):
        weights = config.training.auxiliary.model_dump()
        gamma = config.net.norm_gamma
        super().__init__(
            {name: make(draws, f"auxiliary.{name}", body_width, gamma) for name, make in HEADS.items() if weights[name]}
        )

    def losses(self, body: torch.Tensor, batch) -> dict[str, HeadLoss]:
        """Name -> loss, float32 and not weighted, of each head on a batch: body (N, W, 19, 19), with `targets` and
        `extras`."""
        return {name: cast(AuxiliaryHead, head).loss(body, batch) for name, head in self.items()}

    @property
    def answering(self) -> tuple[str, ...]:
        """Names of the heads that have an accuracy."""
        return tuple(name for name, head in self.items() if cast(AuxiliaryHead, head).answers)
