"""Evaluations as files in a trial's directory: eval/<id>.json (what and means) and eval/<id>.npz (every position).

The JSON file has a checksum of its own and holds that of the arrays (`arrays`).

In place of the .npz file there may be eval/<id>.sums, every metric summed by game, whose digest the JSON file then also
holds (`sums`): `scripts.pack` stores trials like that. Reports read both forms alike.
"""

import io
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.derived import VALUES, by_move_number
from gonn_core.evaluation.metrics import GameIndex, GameSums, Reading, Scores
from gonn_core.evaluation.sums import RANKS, Sums, pack_sums, unpack_sums
from gonn_core.files.json_files import read_record
from gonn_core.files.seals import digest_of, sealed_json, verify_once
from gonn_core.metrics import SUMMARISED

FORMAT = 1
AGAIN = "`gonn ablate` and `gonn evaluate` make it again"
"""What to do about an evaluation that is damaged."""
_ARRAYS = ("nats", "rank", "rows", "games")
_LATER_ARRAYS = (*(name for name in Scores._fields if name not in _ARRAYS), "ply", "ko")
_SUMMARY = (
    "id",
    "metric_set",
    "weights",
    "samples",
    "split",
    "subset",
    "history",
    "symmetry_averaging",
    "positions",
    "games",
    *SUMMARISED,
    "requests",
)

SUMS = ".sums"
"""Suffix of a file of sums by game."""
T = TypeVar("T")


@dataclass(frozen=True)
class Evaluation:
    """One stored evaluation. `summary` is its JSON file: id, metric_set, weights (digest), samples, split, view, subset
    (digest), history, symmetry_averaging, legal_only (when it is so), positions, games, nats, top1, top4, seconds, and
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

    @property
    def sums(self) -> Sums:
        """Every metric summed by game. Raises Damaged for a file that is missing or damaged."""
        if self.compact:
            return self._read(unpack_sums)
        by_metric = {metric: sums for metric in VALUES if (sums := self.game_sums(metric)) is not None}
        first = by_metric["nats"]
        return Sums(
            games=first.games,
            counts=first.counts,
            by_metric={metric: sums.sums for metric, sums in by_metric.items()},
            guesses=np.bincount(self.scores.rank.astype(np.int64), minlength=RANKS),
            moves=by_move_number(self),
        )

    def checked(self) -> "Evaluation":
        """Itself, its arrays compared with what the summary says of them as `files.seals` says. Raises Damaged, also
        for arrays that are missing."""

        def compare(name: str) -> None:
            _ = self._read(unpack_sums) if self.compact else self._arrays

        try:
            verify_once(self.path.parent, {self.path.name: str(self._digest)}, compare)
        except OSError as error:
            raise Damaged(self.path, f"not a readable evaluation ({error.strerror or error}); {AGAIN}") from None
        return self

    @property
    def scores(self) -> Scores:
        """What the net made of every position."""
        return Scores(**{name: self._arrays[name] for name in Scores._fields if name in self._arrays})

    @property
    def reading(self) -> Reading:
        """How the policy was read."""
        return Reading(bool(self.summary["symmetry_averaging"]), bool(self.summary.get("legal_only", False)))

    @property
    def ply(self) -> np.ndarray | None:
        """(N,) int16: moves played before every position; None in files that do not hold it."""
        return self._arrays.get("ply")

    @property
    def ko(self) -> np.ndarray | None:
        """(N,) bool: whether a point is forbidden by ko; None in files that do not hold it."""
        return self._arrays.get("ko")

    @property
    def rows(self) -> np.ndarray:
        """(N,) uint32: row of the store of every position; evaluations of one subset have the same."""
        return self._arrays["rows"]

    @property
    def games(self) -> np.ndarray:
        """(N,) int32: game of every position, an index into the store's games."""
        return self._arrays["games"]

    def position_values(self, metric: str) -> np.ndarray | None:
        """(N,) float64: values whose mean is `metric`, one of `derived.VALUES`; None when this file does not hold what
        it needs."""
        if metric not in VALUES:
            raise ValueError(f"metric {metric!r}: valid are {', '.join(VALUES)}")
        return VALUES[metric](self)

    def game_sums(self, metric: str) -> GameSums | None:
        """`metric` summed over each game's positions; None as above."""
        if self.compact:
            return self.sums.of(metric)
        values = self.position_values(metric)
        return None if values is None else self._by_game(values)

    @cached_property
    def _by_game(self) -> GameIndex:
        return GameIndex(self.games)


def _unpack_arrays(data: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {name: file[name] for name in (*_ARRAYS, *(name for name in _LATER_ARRAYS if name in file))}


def pack_arrays(
    scores: Scores, rows: np.ndarray, games: np.ndarray, ply: np.ndarray | None = None, ko: np.ndarray | None = None
) -> bytes:
    """Content of the .npz file: the same bytes for the same values. What is None is left out."""
    buffer = io.BytesIO()
    arrays = {**scores._asdict(), "rows": rows.astype(np.uint32), "games": games.astype(np.int32), "ply": ply, "ko": ko}
    np.savez(buffer, **{name: array for name, array in arrays.items() if array is not None})
    return buffer.getvalue()


def pack_summary(summary: dict) -> bytes:
    """Content of the JSON file, sealed. `summary["arrays"]`: `digest_of` of the .npz file."""
    return sealed_json(summary, allow_nan=False)


def pack_compact(evaluation: Evaluation) -> dict[str, bytes]:
    """Suffix -> content of the files of an evaluation in its compact form."""
    data = pack_sums(evaluation.sums)
    return {".json": pack_summary(evaluation.summary | {"sums": digest_of(data)}), SUMS: data}


def load_evaluations(trial: Path | str) -> list[Evaluation]:
    """All evaluations in a trial's directory, by id. Raises Damaged for one that is damaged or whose arrays are
    missing, InputError for one of another version."""
    evaluations, damages = whole_evaluations(trial)
    if damages:
        raise damages[0]
    return evaluations


def whole_evaluations(trial: Path | str) -> tuple[list[Evaluation], list[Damaged]]:
    """As `load_evaluations`, without those, and what is wrong with them."""
    evaluations, damages, again = [], [], f"; {AGAIN}"
    for path in sorted((Path(trial) / "eval").glob("*.json")):
        try:
            summary = read_record(path, FORMAT, _SUMMARY)
            if summary is not None:
                arrays = path.with_suffix(".npz")
                compact = "sums" in summary and not arrays.exists()
                evaluations.append(Evaluation(summary, path.with_suffix(SUMS) if compact else arrays).checked())
        except Damaged as damage:
            damages.append(Damaged(damage.path, damage.problem.removesuffix(again) + again))
    return evaluations, damages
