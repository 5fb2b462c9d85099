"""Cazenave's ladder marks of all rows of a position store, searched for once and stored next to its arrays.

A position takes some 1,500 nodes of ladder search, whatever is spared, so a thread makes a few thousand a second of
rows drawn at random; looked up here it makes as many as of the planes that need no search. The marks are no part of the
store, whose digest names all that is trained on it: they are made when a trial on a GPU first wants them
(`wants_marks`), found by everybody from then on, and searched for row by row where they are not there. The planes are
the same either way.

<stores>/<digest>/cazenave-ladders-<numerics>-<format>/    manifest.json first.npy marks.npy
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gonn_core import numerics
from gonn_core.errors import Damaged, UserError
from gonn_core.features.cazenave_ladders import PLANES, make_workspaces, mark_ladders
from gonn_core.features.source import PlaneSource, plane_source, read_only
from gonn_core.files.arrays import GrowingArray
from gonn_core.files.seals import checked_json, file_digest, sealed_json, verify_once
from gonn_core.files.whole import discard, finish, locked, workshop, write_whole
from gonn_core.go.jit import kernel
from gonn_core.go.points import POINTS, SYMMETRY
from gonn_core.settings.features import FeatureConfig

_LOG = logging.getLogger(__name__)
FORMAT = 1
FOLDER = f"cazenave-ladders-{numerics.FEATURES}-{FORMAT}"
"""Name of the folder in the store's: of other planes there may be another one next to it."""
_MANIFEST = "manifest.json"
_ARRAYS = {"first.npy": np.dtype(np.int64), "marks.npy": np.dtype(np.uint16)}
CHUNK = 1024
"""Rows that a thread searches at a time."""
PAYS = 4
"""Making the marks of all rows is worth while for a trial that sees a fourth as many: others come after it; ours."""


class StoredMarks(NamedTuple):
    """Marks `plane*361 + point` of the eight planes (`cazenave_ladders`) of N rows, unturned: those of row r are
    marks[first[r]:first[r + 1]]."""

    first: np.ndarray  # (N + 1,) int64
    marks: np.ndarray  # (M,) uint16


def has_ladders(features: FeatureConfig) -> bool:
    """Whether these planes are among those that are stored."""
    return features.set == "cazenave" and bool(features.ladders)


def wants_marks(features: FeatureConfig, device: str, samples: int, rows: int) -> bool:
    """Whether a trial of so many samples on a device of this type should have the marks of a store of so many rows
    made: on a CPU the net takes ten times as long as the search."""
    return has_ladders(features) and device != "cpu" and samples * PAYS >= rows


def open_marks(store) -> StoredMarks | None:
    """The marks of an open store, verified; None where there are none. Damaged ones are taken away."""
    folder = Path(store.folder) / FOLDER
    try:
        return _open(folder, store)
    except FileNotFoundError:
        return None
    except Damaged as damage:
        _LOG.info("%s: %s; its rows are searched anew", damage.path, damage.problem)
        with suppress(UserError):  # a folder that takes no files is left as it is
            discard(folder)
        return None


def make_marks(store, threads: int = 1, report: Callable[[int, int], object] | None = None) -> StoredMarks:
    """The marks of an open store, made where there are none. A second maker waits for the first. Raises UserError for
    a folder that takes no files.

    report: called from time to time with the rows that are done and all of them; may raise, and nothing is kept then.
    """
    with locked(Path(store.folder) / f".{FOLDER}.lock"):
        found = open_marks(store)
        if found is None:
            _make(store, threads, report or (lambda done, of: None))
            found = open_marks(store)
    if found is None:
        raise Damaged(Path(store.folder) / FOLDER, "not what was just written there")
    return found


def _open(folder: Path, store) -> StoredMarks:
    path = folder / _MANIFEST
    try:
        manifest = checked_json(path, path.read_bytes())
        digests = {name: manifest["arrays"][name]["sha256"] for name in _ARRAYS}
        if manifest["store"] != store.digest or manifest["arrays"]["first.npy"]["rows"] != len(store) + 1:
            raise ValueError("of another store")

        def check(name: str) -> None:
            array = np.load(folder / name, mmap_mode="r")
            rows = manifest["arrays"][name]["rows"]
            if array.dtype != _ARRAYS[name] or array.shape != (rows,):
                raise Damaged(folder / name, f"{array.dtype} {array.shape}, not {_ARRAYS[name]} ({rows},)")
            if file_digest(folder / name, (folder / name).stat().st_size - array.nbytes) != digests[name]:
                raise Damaged(folder / name, "contents differ from the digest")

        def check_indices() -> None:
            first, marks = (np.load(folder / name, mmap_mode="r") for name in _ARRAYS)
            counts = np.diff(first)
            inside = first[0] == 0 and first[-1] == len(marks) and marks.max(initial=0) < PLANES * POINTS
            if not inside or counts.min() < 0 or counts.max() > PLANES * POINTS:
                raise Damaged(folder, "numbers out of range")

        verify_once(folder, digests, check, check_indices)
        first, marks = (np.load(folder / name, mmap_mode="r") for name in _ARRAYS)
    except FileNotFoundError:
        if folder.is_dir():
            raise Damaged(folder, "a file is missing") from None
        raise
    except (OSError, EOFError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(folder, f"damaged ({error})") from None
    return StoredMarks(read_only(first), read_only(marks))


def _make(store, threads: int, report: Callable[[int, int], object]) -> None:
    source, count = plane_source(store), len(store)
    with workshop(Path(store.folder)) as folder:
        arrays = {name: GrowingArray(folder / name, dtype) for name, dtype in _ARRAYS.items()}
        try:
            arrays["first.npy"].append(np.zeros(1, np.int64))
            with ThreadPoolExecutor(threads, thread_name_prefix="ladders") as pool:
                try:
                    for counts, marks in pool.map(partial(_search, source), range(0, count, CHUNK)):
                        arrays["first.npy"].append(arrays["marks.npy"].rows + np.cumsum(counts))
                        arrays["marks.npy"].append(marks)
                        report(arrays["first.npy"].rows - 1, count)
                finally:
                    pool.shutdown(cancel_futures=True)
            about = {name: array.close() for name, array in arrays.items()}
        finally:
            for array in arrays.values():
                array.abandon()
        write_whole(folder / _MANIFEST, sealed_json({"format": FORMAT, "store": store.digest, "arrays": about}))
        finish(folder, Path(store.folder) / FOLDER)


def _search(source: PlaneSource, start: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(start, min(start + CHUNK, len(source.stones)))
    unturned = np.zeros(len(rows), np.uint8)
    marks, counts = np.empty((len(rows), PLANES * POINTS), np.uint16), np.zeros(len(rows), np.int64)
    mark_ladders(source, rows, unturned, np.arange(PLANES) * POINTS, *make_workspaces(), marks, counts)
    return counts, marks[np.arange(marks.shape[1]) < counts[:, None]]


@kernel
def look_up_marks(first_of_row, stored, rows, symmetries, first, marks, counts):
    """As `cazenave_ladders.mark_ladders`, of rows whose marks are stored."""
    for j in range(len(rows)):
        image, n = SYMMETRY[symmetries[j]], counts[j]
        for k in range(first_of_row[rows[j]], first_of_row[rows[j] + 1]):
            plane, point = divmod(np.int64(stored[k]), POINTS)
            marks[j, n] = first[plane] + image[point]
            n += 1
        counts[j] = n
