"""Evaluations as files in a trial's directory: eval/<id>.json (what and means) and eval/<id>.npz (every position)."""

import io
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError
from gonn_core.json_files import read_record

from .metrics import GameSums, Scores, game_sums

FORMAT = 1
_SUMMARY = ("id", "metric_set", "weights", "samples", "split", "subset", "history", "symmetry_averaging", "positions", "games", "nats", "top1", "top4", "requests")


@dataclass(frozen=True)
class Evaluation:
    """One stored evaluation. `summary` is its JSON file: id, metric_set, weights (digest), samples, split, view, subset (digest), history,
    symmetry_averaging, positions, games, nats, top1, top4, seconds, and the requests that it answers."""

    summary: dict
    path: Path = field(repr=False)
    """The .npz file."""

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                return {name: file[name] for name in ("nats", "rank", "rows", "games")}
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(self.path, f"not a readable evaluation ({error}); remove it to evaluate again") from None

    @property
    def scores(self) -> Scores:
        """nats and rank of every position."""
        return Scores(self._arrays["nats"], self._arrays["rank"])

    @property
    def rows(self) -> np.ndarray:
        """(N,) uint32: row of the store of every position; evaluations of one subset have the same."""
        return self._arrays["rows"]

    @property
    def games(self) -> np.ndarray:
        """(N,) int32: game of every position, an index into the store's games."""
        return self._arrays["games"]

    def position_values(self, metric: str) -> np.ndarray:
        """(N,) float64 values whose mean is `metric`: nats, top1 or top4."""
        scores = self.scores
        values = {"nats": lambda: scores.nats, "top1": lambda: scores.rank < 1, "top4": lambda: scores.rank < 4}
        if metric not in values:
            raise ValueError(f"metric {metric!r}: valid are {', '.join(values)}")
        return values[metric]().astype(np.float64)

    def game_sums(self, metric: str) -> GameSums:
        """`metric` summed over each game's positions."""
        return game_sums(self.games, self.position_values(metric))


def pack_arrays(scores: Scores, rows: np.ndarray, games: np.ndarray) -> bytes:
    """Content of the .npz file: the same bytes for the same values."""
    buffer = io.BytesIO()
    np.savez(buffer, nats=scores.nats, rank=scores.rank, rows=rows.astype(np.uint32), games=games.astype(np.int32))
    return buffer.getvalue()


def load_evaluations(trial: Path | str) -> list[Evaluation]:
    """All evaluations in a trial's directory, by id. One whose arrays are gone counts for nothing: it is made again.

    Raises InputError for a file that is none.
    """
    found = []
    for path in sorted((Path(trial) / "eval").glob("*.json")):
        summary = read_record(path, FORMAT, _SUMMARY)
        arrays = path.with_suffix(".npz")
        if summary is not None and arrays.exists():
            found.append(Evaluation(summary, arrays))
    return found
