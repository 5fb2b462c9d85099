"""What reports need of an evaluation: every metric summed by game, guesses, hits by move number.

Reports use these sums alone, never the values of single positions, so a trial can also be stored with its sums in
place of the positions, in a hundredth of the space: see `gonn_core.evaluation.stored`.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gonn_core.evaluation.derived import VALUES
from gonn_core.evaluation.metrics import GameSums

RANKS = 361


@dataclass(frozen=True, eq=False)
class Sums:
    """games (G,) int32 ids; counts (G,) int64 positions; by_metric: metric -> (G,) float64 sums, without the metrics
    that the evaluation does not hold; guesses (361,) int64 positions by rank of the move played; moves: as
    `derived.by_move_number`."""

    games: np.ndarray
    counts: np.ndarray
    by_metric: Mapping[str, np.ndarray]
    guesses: np.ndarray
    moves: list[tuple[int, int, float]] | None

    def of(self, metric: str) -> GameSums | None:
        """`metric` summed over each game's positions; None if the evaluation does not hold it."""
        if metric not in VALUES:
            raise ValueError(f"metric {metric!r}: valid are {', '.join(VALUES)}")
        sums = self.by_metric.get(metric)
        return None if sums is None else GameSums(self.games, sums, self.counts)


def pack_sums(sums: Sums) -> bytes:
    """Sums as a file of arrays: the same bytes for the same values."""
    arrays: dict[str, Any] = {
        "games": sums.games.astype(np.int32),
        "counts": sums.counts.astype(np.int64),
        "metrics": np.array(list(sums.by_metric), np.str_),
        "sums": np.array(list(sums.by_metric.values()), np.float64).reshape(len(sums.by_metric), len(sums.games)),
        "guesses": sums.guesses.astype(np.int64),
    }
    if sums.moves is not None:
        arrays["moves"] = np.array(sums.moves, np.float64).reshape(-1, 3)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def unpack_sums(data: bytes) -> Sums:
    """Inverse of `pack_sums`. Raises ValueError, KeyError or a zip error for anything else."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        bins = file.get("moves")
        moves = None if bins is None else [(int(first), int(count), float(share)) for first, count, share in bins]
        by_metric = dict(zip(file["metrics"].tolist(), file["sums"], strict=True))
        return Sums(file["games"], file["counts"], by_metric, file["guesses"], moves)
