"""What a report needs of an evaluation, kept in a small file: every metric summed by game, guesses, hits by move
number.

Tens of thousands of positions stand behind an evaluation and every report sums them up anew, to the same numbers. They
are kept under `out/`, where everything can be thrown away, named by a digest of what they are made from: the
evaluation's summary, the end of its file of arrays (a zip archive: there is the checksum of each array), and the code
that makes them.
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from gonn_core.evaluation import derived, metrics, stored
from gonn_core.evaluation.derived import VALUES
from gonn_core.evaluation.metrics import GameSums
from gonn_core.evaluation.stored import Evaluation
from gonn_core.files.whole import write_whole

RANKS = 361
_TAIL = 2048
"""Bytes at the end of an .npz file that hold its table of contents, whatever arrays an evaluation has."""
_HEAD = 3
"""Numbers of games, of metrics, of bins of moves (-1: moves were not kept)."""


@dataclass(frozen=True)
class SummedEvaluation(Evaluation):
    """An evaluation whose sums are read from `kept` (a file, or where one will be; None: nothing is kept) instead of
    its positions."""

    kept: Path | None = field(default=None, repr=False)

    def game_sums(self, metric: str) -> GameSums | None:
        """As of any evaluation."""
        if metric not in VALUES:
            raise ValueError(f"metric {metric!r}: valid are {', '.join(VALUES)}")
        sums = self._sums.by_metric.get(metric)
        return None if sums is None else GameSums(self._sums.games, sums, self._sums.counts)

    @cached_property
    def _sums(self) -> "Sums":
        found = read_sums(self.kept) if self.kept else None
        if found is None:
            found = make_sums(
                Evaluation(self.summary, self.path)
            )  # one of its own, so that the positions are forgotten again
            if self.kept:
                write_sums(self.kept, found)
        return found

    def forget(self) -> None:
        """Let go of the sums; they are read again when somebody asks."""
        vars(self).pop("_sums", None)

    @property
    def guesses(self) -> np.ndarray:
        """(361,) int64: positions by rank of the move played."""
        return self._sums.guesses

    @property
    def by_move_number(self) -> list[tuple[int, int, float]] | None:
        """As `derived.by_move_number`."""
        return self._sums.moves


@dataclass(frozen=True, eq=False)
class Sums:
    """games (G,) ids; counts (G,) int64 positions; by_metric: (G,) float64 sums, without the metrics that the
    evaluation does not hold; guesses (361,) int64; moves: (first move, positions, top-1) by bin, None without numbers
    of moves."""

    games: np.ndarray
    counts: np.ndarray
    by_metric: dict[str, np.ndarray]
    guesses: np.ndarray
    moves: list[tuple[int, int, float]] | None


def summed(evaluation: Evaluation, folder: Path | None) -> SummedEvaluation:
    """The evaluation with its sums kept in `folder`; None: made anew."""
    return SummedEvaluation(evaluation.summary, evaluation.path, folder / f"{_name(evaluation)}.f8" if folder else None)


def make_sums(evaluation: Evaluation) -> Sums:
    """All sums, from the positions."""
    found = {metric: sums for metric in VALUES if (sums := evaluation.game_sums(metric)) is not None}
    first = next(iter(found.values()))
    guesses = np.bincount(evaluation.scores.rank.astype(np.int64), minlength=RANKS)
    return Sums(
        first.games,
        first.counts,
        {metric: sums.sums for metric, sums in found.items()},
        guesses,
        derived.by_move_number(evaluation),
    )


def write_sums(path: Path, sums: Sums) -> None:
    """Keep them; on a full or read-only disk nothing is kept."""
    missing = np.full(len(sums.games), np.nan)
    bins = [] if sums.moves is None else [number for each in sums.moves for number in each]
    head = [len(sums.games), len(VALUES), -1 if sums.moves is None else len(sums.moves)]
    parts = [
        head,
        sums.games,
        sums.counts,
        *(sums.by_metric.get(metric, missing) for metric in VALUES),
        sums.guesses,
        bins,
    ]
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, np.concatenate([np.asarray(part, "<f8") for part in parts]).tobytes(), flush=False)


def read_sums(path: Path) -> Sums | None:
    """What was kept; None when nothing was, or something else."""
    try:
        data = np.fromfile(path, "<f8")
    except OSError:
        return None
    if len(data) < _HEAD or data[1] != len(VALUES):
        return None
    games, many, bins = (int(number) for number in data[:_HEAD])
    lengths = [games, games, many * games, RANKS, 3 * max(bins, 0)]
    if games < 1 or len(data) != _HEAD + sum(lengths):
        return None
    ids, counts, sums, guesses, moves = np.split(data[_HEAD:], np.cumsum(lengths)[:-1])
    by_metric = {
        metric: row for metric, row in zip(VALUES, sums.reshape(many, games), strict=True) if not np.isnan(row).all()
    }
    told = (
        None if bins < 0 else [(int(first), int(count), float(share)) for first, count, share in moves.reshape(-1, 3)]
    )
    return Sums(ids.astype(np.int32), counts.astype(np.int64), by_metric, guesses.astype(np.int64), told)


def _name(evaluation: Evaluation) -> str:
    digest = hashlib.sha256(_code())
    digest.update(repr(sorted(evaluation.summary.items())).encode())
    with suppress(OSError), open(evaluation.path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - _TAIL))
        digest.update(file.read())
    return digest.hexdigest()[:32]


@cache
def _code() -> bytes:
    """Digest of the code that makes sums: kept ones are of no use once it changes."""
    return hashlib.sha256(
        b"".join(
            Path(module).read_bytes() for module in (derived.__file__, metrics.__file__, stored.__file__, __file__)
        )
    ).digest()
