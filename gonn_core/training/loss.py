"""Losses of the policy: what is compared with the moves played, over which points and which moves to come.

All are in fp32 and averaged over the batch. Cross-entropy is in nats; squared error has no unit and lies between 0 and
2.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F

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

    One definition for both documents that train on it, of which neither tells the normalisation (spec: GoNN 4.4, other
    systems 4.4).
    """
    p = logits.float().softmax(1)
    errors = p.square().sum(1) - 2 * p.gather(1, targets[:, None]).squeeze(1) + 1
    return errors.mean() if reduction == "mean" else errors


LOSSES = {"cross_entropy": cross_entropy, "squared_error": squared_error}
"""`training.loss` -> function of (logits, targets, reduction)."""

_PLANE_WEIGHTS = {
    "mean": lambda k, planes: 1 / planes,
    "sum": lambda k, planes: 1.0,
    "harmonic": lambda k, planes: 1 / k,
}


def plane_weights(kind: str, planes: int) -> list[float]:
    """Weights of the losses of `planes` output planes: 1/planes each, 1 each, or 1, 1/2, 1/3
    (`training.plane_weights`)."""
    return [_PLANE_WEIGHTS[kind](k, planes) for k in range(1, planes + 1)]


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
