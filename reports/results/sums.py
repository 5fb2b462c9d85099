"""The sums of an evaluation that reports read, kept in the reports' cache.

Tens of thousands of positions stand behind an evaluation, and every report needs the same sums of them: they are
cached by the digest of the evaluation's arrays, or, for an evaluation without a digest, by the end of that file (a zip
archive: the checksum of each array is there). The file is checked before (`Evaluation.checked`).
"""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from gonn_core.evaluation.metrics import GameSums
from gonn_core.evaluation.stored import Evaluation, Sums, pack_sums, unpack_sums
from reports.cache import cached, code, file_stamp

IN_MEMORY = 1024
"""Evaluations whose sums stay in memory: some 40 kB each for 200 games, all of a study of 1,000 trials."""
_TAIL = 2048
"""Bytes at the end of an .npz file that hold its table of contents, whatever arrays an evaluation has."""


@dataclass(frozen=True)
class SummedEvaluation(Evaluation):
    """An evaluation whose sums are read from the folder `cache` (None: nothing is kept) instead of its positions."""

    cache: Path | None = field(default=None, repr=False)

    def game_sums(self, metric: str) -> GameSums | None:
        """As `Evaluation.game_sums`."""
        return self.sums.of(metric)

    @property
    def guesses(self) -> np.ndarray:
        """(361,) int64: positions by rank of the move played."""
        return self.sums.guesses

    @property
    def by_move_number(self) -> list[tuple[int, int, float]] | None:
        """As `metrics.by_move_number`."""
        return self.sums.moves

    @property
    def sums(self) -> Sums:
        """As `Evaluation.sums`."""
        stamp = None
        with suppress(OSError):  # a file that is gone is reported where it is read
            stamp = file_stamp(self.path)
        return _read_sums(self.path, stamp, self._digest, self.cache)


@lru_cache(IN_MEMORY)
def _read_sums(path: Path, stamp: tuple[int, int] | None, digest: str | None, folder: Path | None) -> Sums:
    """Sums of the evaluation in `path`. `stamp`: of that file, so that another one in its place has sums of its own;
    `digest`: of its content, from its summary."""
    evaluation = Evaluation({} if digest is None else {"arrays": digest, "sums": digest}, path)
    if folder is None or evaluation.compact:
        return evaluation.sums
    place = folder / f"{path.parent.parent.name}-{path.stem}.sums"
    inputs = code("gonn_core.evaluation", "reports.results.sums"), digest or _end(path)
    return unpack_sums(cached(place, inputs, lambda: pack_sums(evaluation.sums)))


def _end(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL))
            return file.read()
    except OSError:
        return b""
