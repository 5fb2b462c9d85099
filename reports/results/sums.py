"""What a report needs of an evaluation: every metric summed by game, guesses, hits by move number.

Tens of thousands of positions stand behind an evaluation and every report sums them up anew, to the same numbers: they
are cached, by the digest of the evaluation's file of arrays, or, for an evaluation of before, by the end of that file
(a zip archive: there is the checksum of each array). Whoever uses sums has the file checked first: `Evaluation.check`.
"""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from gonn_core.evaluation import derived
from gonn_core.evaluation.derived import VALUES
from gonn_core.evaluation.metrics import GameSums
from gonn_core.evaluation.stored import Evaluation
from reports.cache import cached, code, file_stamp

RANKS = 361
IN_MEMORY = 1024
"""Evaluations whose sums stay in memory: some 40 kB each for 200 games, of 1,000 trials of one study all."""
_TAIL = 2048
"""Bytes at the end of an .npz file that hold its table of contents, whatever arrays an evaluation has."""
_HEAD = 3
"""Numbers of games, of metrics, of bins of moves (-1: moves were not kept)."""


@dataclass(frozen=True)
class SummedEvaluation(Evaluation):
    """An evaluation whose sums are read from the folder `cache` (None: nothing is kept) instead of its positions."""

    cache: Path | None = field(default=None, repr=False)

    def game_sums(self, metric: str) -> GameSums | None:
        """As of any evaluation."""
        if metric not in VALUES:
            raise ValueError(f"metric {metric!r}: valid are {', '.join(VALUES)}")
        sums = self._sums.by_metric.get(metric)
        return None if sums is None else GameSums(self._sums.games, sums, self._sums.counts)

    @property
    def guesses(self) -> np.ndarray:
        """(361,) int64: positions by rank of the move played."""
        return self._sums.guesses

    @property
    def by_move_number(self) -> list[tuple[int, int, float]] | None:
        """As `derived.by_move_number`."""
        return self._sums.moves

    @property
    def _sums(self) -> "Sums":
        stamp = None
        with suppress(OSError):  # a file that is gone: whoever reads it says so
            stamp = file_stamp(self.path)
        return _read_sums(self.path, stamp, self.summary.get("arrays"), self.cache)


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


@lru_cache(IN_MEMORY)
def _read_sums(path: Path, stamp: tuple[int, int] | None, digest: str | None, folder: Path | None) -> Sums:
    """Of the evaluation in `path`. `stamp`: of that file, so that another one in its place has sums of its own;
    `digest`: of its content, as its summary says."""
    place = folder / f"{path.parent.parent.name}-{path.stem}.sums" if folder else None
    inputs = code("gonn_core.evaluation", "reports.results.sums"), digest or (_end(path) if folder else b"")
    summary = {} if digest is None else {"arrays": digest}
    return _unpacked(cached(place, inputs, lambda: _packed(make_sums(Evaluation(summary, path)))))


def _end(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL))
            return file.read()
    except OSError:
        return b""


def make_sums(evaluation: Evaluation) -> Sums:
    """All sums, from the positions. Raises InputError for a file that is gone or damaged."""
    by_metric = {metric: evaluation.game_sums(metric) for metric in VALUES}
    known = {metric: sums for metric, sums in by_metric.items() if sums is not None}
    first = next(iter(known.values()))
    guesses = np.bincount(evaluation.scores.rank.astype(np.int64), minlength=RANKS)
    moves = derived.by_move_number(evaluation)
    return Sums(first.games, first.counts, {metric: sums.sums for metric, sums in known.items()}, guesses, moves)


def _packed(sums: Sums) -> bytes:
    missing = np.full(len(sums.games), np.nan)
    by_metric = [sums.by_metric.get(metric, missing) for metric in VALUES]
    bins = [number for one in sums.moves or [] for number in one]
    head = [len(sums.games), len(VALUES), -1 if sums.moves is None else len(sums.moves)]
    parts = [head, sums.games, sums.counts, *by_metric, sums.guesses, bins]
    return np.concatenate([np.asarray(part, "<f8") for part in parts]).tobytes()


def _unpacked(data: bytes) -> Sums:
    numbers = np.frombuffer(data, "<f8")
    games, metrics, bins = (int(number) for number in numbers[:_HEAD])
    lengths = [games, games, metrics * games, RANKS]
    ids, counts, sums, guesses, moves = np.split(numbers[_HEAD:], np.cumsum(lengths))
    rows = zip(VALUES, sums.reshape(metrics, games), strict=True)
    by_metric = {metric: row for metric, row in rows if not np.isnan(row).all()}
    by_move = [(int(first), int(count), float(share)) for first, count, share in moves.reshape(-1, 3)]
    return Sums(
        ids.astype(np.int32),
        counts.astype(np.int64),
        by_metric,
        guesses.astype(np.int64),
        None if bins < 0 else by_move,
    )
