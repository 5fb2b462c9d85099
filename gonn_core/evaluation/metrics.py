"""Metrics of single positions and their means (spec: GoNN 4.8).

Per position: nats = -log softmax(logits)[move], rank of the move played among the 361 logits (0 = the largest).
top-1 = share of positions with rank 0, top-4 = with rank below 4.
"""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gonn_core.go.points import SYMMETRY
from gonn_core.metrics import SUMMARISED


class Reading(NamedTuple):
    """symmetry_averaging: mean of the logits over the 8 symmetries of the position, turned back (spec: other systems
    1.7).

    legal_only: softmax and rank over empty points but the simple-ko point (spec: other systems 2.5, 2.7). Suicide stays
    among them: neither document asks for more.
    """

    symmetry_averaging: bool = False
    legal_only: bool = False

    @property
    def symmetries(self) -> range:
        """Symmetries under which the net sees a position; 0 is the identity."""
        return range(len(SYMMETRY) if self.symmetry_averaging else 1)


PLAIN = Reading()
"""One forward pass, softmax over all 361 points."""


METRIC_SET = 1
"""Version of these metrics and of how they are computed; part of every evaluation's id. Raise it when one is added or
changes."""


class Scores(NamedTuple):
    """Of every position: nats (N,) float32; rank (N,) uint16; entropy of the policy in nats and squared error, the sum
    over points of (policy - one-hot)^2, (N,) float32: None in evaluations stored before these were kept.

    illegal (N,) float32: what the policy over all points gives to illegal ones; where the policy was read
    over legal points, None elsewhere and in evaluations stored before it was kept."""

    nats: np.ndarray
    rank: np.ndarray
    entropy: np.ndarray | None = None
    squared_error: np.ndarray | None = None
    illegal: np.ndarray | None = None
    later_nats: np.ndarray | None = None
    """(N, K-1) float32 of the further output planes of a net with K: the reply, the move after it; nan where that is a
    pass or the game is over. None with one plane, and in evaluations stored before it was kept; so are the next two."""
    later_rank: np.ndarray | None = None
    """(N, K-1) int16, -1 where there is no such move."""
    later_squared_error: np.ndarray | None = None
    """(N, K-1) float32, nan where there is none."""

    def means(self) -> dict[str, float]:
        """nats, top1, top4: means over the positions, nan when there is none."""
        if not len(self.nats):
            return dict.fromkeys(SUMMARISED, float("nan"))
        return {
            "nats": float(self.nats.mean(dtype=np.float64)),
            "top1": float((self.rank < 1).mean()),
            "top4": float((self.rank < 4).mean()),
        }


class GameSums(NamedTuple):
    """Per game, for statistics that resample games: games (G,) ids in rising order; sums (G,) float64; counts (G,)
    int64."""

    games: np.ndarray
    sums: np.ndarray
    counts: np.ndarray


class GameIndex:
    """Which position belongs to which game, for sums of many metrics. `games` (N,) holds each position's game id."""

    def __init__(self, games: np.ndarray):
        self._ids, self._inverse = np.unique(games, return_inverse=True)
        self._counts = np.bincount(self._inverse, minlength=len(self._ids))

    def __call__(self, values: np.ndarray) -> GameSums:
        """Sums of `values` (N,) over the positions of each game."""
        sums = np.bincount(self._inverse, weights=np.asarray(values, np.float64), minlength=len(self._ids))
        return GameSums(self._ids, sums, self._counts)


def game_sums(games: np.ndarray, values: np.ndarray) -> GameSums:
    """Sums of `values` (N,) over the positions of each game; `games` (N,) holds each position's game id."""
    return GameIndex(games)(values)


if TYPE_CHECKING:
    import torch


def weights_digest(state: Mapping[str, "torch.Tensor"]) -> str:
    """16 hex digits over names, types, shapes and values of a net's parameters and buffers; memory format and device do
    not matter."""
    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()[:16]


def evaluation_id(
    weights: str, subset: str, history: str, reading: Reading = PLAIN, metric_set: int = METRIC_SET
) -> str:
    """16 hex digits over all that decides an evaluation's numbers: digests of weights and subset, metric set, history
    mode, reading."""
    parts = [weights, subset, f"metrics {metric_set}", history, f"averaged {int(reading.symmetry_averaging)}"]
    if reading.legal_only:  # not told otherwise: older identities stay
        parts.append("legal only")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
