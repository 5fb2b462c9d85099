"""Evaluations as files in a trial's directory: eval/<id>.json (what and means) and eval/<id>.npz (every position).

The JSON file has a checksum of its own and holds that of the arrays (`arrays`). In place of the .npz file there may be
eval/<id>.sums, every metric summed by game, in a hundredth of the space, whose digest the JSON file then also holds
(`sums`): `scripts.pack` stores trials like that. Reports use the sums alone, so they read both forms alike.
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.metrics import VALUES, GameSums, Reading, Scores, by_move_number
from gonn_core.files.json_files import read_record
from gonn_core.files.seals import digest_of, sealed_json, verify_once
from gonn_core.metrics import SUMMARISED

FORMAT = 1
AGAIN = "`gonn ablate` and `gonn evaluate` make it again"
"""What to do about an evaluation that is damaged."""
RANKS = 361
SUMS = ".sums"
"""Suffix of a file of sums by game."""
_SUMMARY = ("id", "metric_set", "weights", "samples", "split", "subset", "history", "symmetry_averaging", "positions")
T = TypeVar("T")


def _check_metric(metric: str) -> None:
    if metric not in VALUES:
        raise ValueError(f"metric {metric!r}: valid are {', '.join(VALUES)}")


@dataclass(frozen=True, eq=False)
class Sums:
    """games (G,) int32 ids; counts (G,) int64 positions; by_metric: metric -> (G,) float64 sums, without the metrics
    that the evaluation does not hold; guesses (361,) int64 positions by rank of the move played; moves: as
    `by_move_number`."""

    games: np.ndarray
    counts: np.ndarray
    by_metric: Mapping[str, np.ndarray]
    guesses: np.ndarray
    moves: list[tuple[int, int, float]] | None

    def of(self, metric: str) -> GameSums | None:
        """`metric` summed over each game's positions; None if the evaluation does not hold it."""
        _check_metric(metric)
        sums = self.by_metric.get(metric)
        return None if sums is None else GameSums(self.games, sums, self.counts)


def pack_sums(sums: Sums) -> bytes:
    """Sums as a file of arrays: the same bytes for the same values."""
    arrays: dict[str, Any] = {
        "games": sums.games.astype(np.int32),
        "counts": sums.counts.astype(np.int64),
        "metrics": np.array(list(sums.by_metric), np.str_),
        "sums": np.array(list(sums.by_metric.values())).reshape(len(sums.by_metric), len(sums.games)),
        "guesses": sums.guesses.astype(np.int64),
    }
    if sums.moves is not None:
        arrays["moves"] = np.array(sums.moves, np.float64).reshape(-1, 3)
    return _packed(arrays)


def unpack_sums(data: bytes) -> Sums:
    """Inverse of `pack_sums`. Raises ValueError, KeyError or a zip error for anything else."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        bins = file.get("moves")
        moves = None if bins is None else [(int(first), int(count), float(share)) for first, count, share in bins]
        by_metric = dict(zip(file["metrics"].tolist(), file["sums"].astype(np.float64), strict=True))
        return Sums(file["games"], file["counts"], by_metric, file["guesses"], moves)


@dataclass(frozen=True)
class Evaluation:
    """One stored evaluation. `summary` is its JSON file: id, metric_set, weights (digest), samples, split, view, subset
    (digest), history, symmetry_averaging, legal_only (where true), positions, games, nats, top1, top4, seconds, and
    the requests that it answers."""

    summary: dict
    path: Path = field(repr=False)
    """The .npz file, or the file of sums."""

    @property
    def compact(self) -> bool:
        """Whether only sums by game are stored, not the values of every position."""
        return self.path.suffix == SUMS

    @property
    def _digest(self) -> str | None:
        return self.summary.get("sums" if self.compact else "arrays")

    def _read(self, unpack: Callable[[bytes], T]) -> T:
        try:
            data = self.path.read_bytes()
            if self._digest is not None and digest_of(data) != self._digest:
                raise Damaged(self.path, f"damaged: not the arrays that were written; {AGAIN}")
            return unpack(data)
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise Damaged(self.path, f"not a readable evaluation ({error}); {AGAIN}") from None

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        if self.compact:
            raise InputError(self.path, "holds sums by game only, not the values of single positions")
        return self._read(_unpack_arrays)

    @cached_property
    def sums(self) -> Sums:
        """Every metric summed by game. Raises Damaged for a file that is missing or damaged."""
        if self.compact:
            return self._read(unpack_sums)
        scores = self.scores
        games, inverse, counts = np.unique(self.games, return_inverse=True, return_counts=True)
        values = {metric: array for metric, of in VALUES.items() if (array := of(scores)) is not None}
        return Sums(
            games=games,
            counts=counts,
            by_metric={name: np.bincount(inverse, array, minlength=len(games)) for name, array in values.items()},
            guesses=np.bincount(scores.rank.astype(np.int64), minlength=RANKS),
            moves=by_move_number(scores),
        )

    def checked(self) -> "Evaluation":
        """Itself, its arrays compared with their digest as `files.seals` says. Raises Damaged, also for arrays that
        are missing."""

        def compare(name: str) -> None:
            _ = self.sums if self.compact else self._arrays

        try:
            verify_once(self.path.parent, {self.path.name: str(self._digest)}, compare)
        except OSError as error:
            raise Damaged(self.path, f"not a readable evaluation ({error.strerror or error}); {AGAIN}") from None
        return self

    @property
    def scores(self) -> Scores:
        """The net's scores of every position."""
        return Scores(**{name: self._arrays[name] for name in Scores._fields if name in self._arrays})

    @property
    def reading(self) -> Reading:
        """How the policy was read."""
        return Reading(bool(self.summary["symmetry_averaging"]), bool(self.summary.get("legal_only", False)))

    @property
    def rows(self) -> np.ndarray:
        """(N,) uint32: row of the store of every position; evaluations of one subset have the same."""
        return self._arrays["rows"]

    @property
    def games(self) -> np.ndarray:
        """(N,) int32: game of every position, an index into the store's games."""
        return self._arrays["games"]


def _unpack_arrays(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        optional = (name for name in Scores._fields if name in file)
        return {name: file[name] for name in ("nats", "rank", "rows", "games", *optional)}


def _packed(arrays: Mapping[str, np.ndarray | None]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None})  # type: ignore[arg-type]  # numpy's types take the names for its own keywords
    return buffer.getvalue()


def pack_arrays(scores: Scores, rows: np.ndarray, games: np.ndarray) -> bytes:
    """Content of the .npz file: the same bytes for the same values."""
    return _packed({**scores._asdict(), "rows": rows.astype(np.uint32), "games": games.astype(np.int32)})


def pack_part(scores: Scores) -> bytes:
    """Scores of a part of an evaluation's positions as a file, until all of them are there."""
    return _packed(scores._asdict())


def read_part(path: Path) -> Scores | None:
    """Inverse of `pack_part`; None for a file that is missing or damaged, whose positions are scored again."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return Scores(**file)
    except (OSError, EOFError, ValueError, TypeError, zipfile.BadZipFile, zlib.error):
        return None


def pack_compact(evaluation: Evaluation) -> dict[str, bytes]:
    """Suffix -> content of the files of an evaluation in its compact form, sums in float32."""
    sums = evaluation.sums
    data = pack_sums(replace(sums, by_metric={name: of.astype(np.float32) for name, of in sums.by_metric.items()}))
    return {".json": sealed_json(evaluation.summary | {"sums": digest_of(data)}, allow_nan=False), SUMS: data}


def load_evaluations(trial: Path | str) -> list[Evaluation]:
    """All evaluations in a trial's directory, by id. Raises Damaged for one that is damaged or whose arrays are
    missing, InputError for one of another version."""
    evaluations, damages = whole_evaluations(trial)
    if damages:
        raise damages[0]
    return evaluations


def whole_evaluations(trial: Path | str) -> tuple[list[Evaluation], list[Damaged]]:
    """The undamaged evaluations, and the damages of the others."""
    evaluations, damages, again = [], [], f"; {AGAIN}"
    for path in sorted((Path(trial) / "eval").glob("*.json")):
        try:
            summary = read_record(path, FORMAT, (*_SUMMARY, "games", *SUMMARISED, "requests"))
            if summary is not None:
                arrays = path.with_suffix(".npz")
                compact = "sums" in summary and not arrays.exists()
                evaluations.append(Evaluation(summary, path.with_suffix(SUMS) if compact else arrays).checked())
        except Damaged as damage:
            damages.append(Damaged(damage.path, damage.problem.removesuffix(again) + again))
    return evaluations, damages
