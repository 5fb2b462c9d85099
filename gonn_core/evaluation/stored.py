"""Evaluations as files in a trial's directory: eval/<id>.json (what and means) and eval/<id>.npz (every position).

The JSON file has a seal and holds the digest of the arrays (`arrays`). Files written before policies were read in more
than one way, before more than nats and rank was kept, or before there were digests are read as they are; of the last
the means are compared with the arrays.
"""

import io
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from gonn_core.errors import Damaged
from gonn_core.evaluation.derived import VALUES
from gonn_core.evaluation.metrics import GameIndex, GameSums, Scores
from gonn_core.evaluation.reading import Reading
from gonn_core.files.json_files import read_record
from gonn_core.files.seals import digest_of, sealed_json
from gonn_core.files.verified import verify_once
from gonn_core.metrics import SUMMARISED

FORMAT = 1
AGAIN = "`gonn ablate` and `gonn evaluate` make it again"
"""What to do about an evaluation that is damaged."""
_TOLERANCE = 1e-9
"""Of a mean that was written down: the same arithmetic on the same arrays."""
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


@dataclass(frozen=True)
class Evaluation:
    """One stored evaluation. `summary` is its JSON file: id, metric_set, weights (digest), samples, split, view, subset
    (digest), history, symmetry_averaging, legal_only (when it is so), positions, games, nats, top1, top4, seconds, and
    the requests that it answers."""

    summary: dict
    path: Path = field(repr=False)
    """The .npz file."""

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        try:
            data = self.path.read_bytes()
            digest = self.summary.get("arrays")
            if digest is not None and digest_of(data) != digest:
                raise Damaged(self.path, f"damaged: not the arrays that were written; {AGAIN}")
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = {name: file[name] for name in (*_ARRAYS, *(name for name in _LATER_ARRAYS if name in file))}
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise Damaged(self.path, f"not a readable evaluation ({error}); {AGAIN}") from None
        return arrays

    def _compare_means(self, arrays: dict[str, np.ndarray]) -> None:
        scores = Scores(**{name: arrays[name] for name in Scores._fields if name in arrays})
        for metric, mean in scores.means().items():
            told = self.summary.get(metric, mean)
            if not (abs(told - mean) <= _TOLERANCE or (np.isnan(told) and np.isnan(mean))):
                raise Damaged(self.path, f"damaged: {metric} of its positions is {mean:.6f}, not as written; {AGAIN}")

    def checked(self) -> "Evaluation":
        """Itself, its arrays compared with what the summary says of them as `files.verified` says. Raises Damaged, also
        for arrays that are missing."""

        def compare(name: str) -> None:
            arrays = self._arrays
            if "arrays" not in self.summary:
                self._compare_means(arrays)

        try:
            against = self.summary.get("arrays") or " ".join(str(self.summary[name]) for name in SUMMARISED)
            verify_once(self.path.parent, {self.path.name: against}, compare)
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
        values = self.position_values(metric)
        return None if values is None else self._by_game(values)

    @cached_property
    def _by_game(self) -> GameIndex:
        return GameIndex(self.games)


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
                evaluations.append(Evaluation(summary, path.with_suffix(".npz")).checked())
        except Damaged as damage:
            damages.append(Damaged(damage.path, damage.problem.removesuffix(again) + again))
    return evaluations, damages
