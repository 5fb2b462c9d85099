"""Large files compared with their digests once for each size and time of change: what was found right is noted in their
folder, for all processes.

The note is of no value of its own: where it is gone, damaged or cannot be written, files are read again.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from gonn_core.errors import UserError
from gonn_core.files.seals import checked_json, sealed_json
from gonn_core.files.whole import write_whole

NOTE = ".verified"
Stamp = list[int]


def verify_once(folder: Path, files: Mapping[str, str], check: Callable[[str], None]) -> None:
    """Call `check` with each name in `files` (name in `folder` -> what its content is held against, such as a digest)
    that was not found right as it lies there. Raises what `check` raises, OSError for a file that is gone."""
    known, stamps = _read(folder), {name: _stamp(folder / name) for name in files}
    new = {}
    for name, against in files.items():
        if known.get(name) != [*stamps[name], against]:
            check(name)
            new[name] = [*stamps[name], against]
    if new:
        note_verified(folder, new, known)


def note_verified(folder: Path, entries: Mapping[str, list], known: Mapping[str, list] | None = None) -> None:
    """Note entries (size, time of change in ns, what it was held against) beside those that are `known`."""
    kept = {name: entry for name, entry in {**(known or {}), **entries}.items() if (folder / name).exists()}
    with suppress(OSError):
        write_whole(folder / NOTE, sealed_json(kept), flush=False)


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Note files that were just written, by the digests that they were written with."""
    with suppress(OSError):
        note_verified(folder, {name: [*_stamp(folder / name), against] for name, against in files.items()})


def file_digest(path: Path, skipped: int = 0) -> str:
    """64 hex digits of a file's bytes from `skipped` on. Raises OSError, ValueError for a negative number."""
    with open(path, "rb") as file:
        file.seek(skipped)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(path: Path) -> Stamp:
    about = path.stat()
    return [about.st_size, about.st_mtime_ns]


def _read(folder: Path) -> dict[str, list]:
    path = folder / NOTE
    with suppress(OSError, ValueError, RecursionError, UserError):
        tree = checked_json(path, path.read_bytes())
        return tree if isinstance(tree, dict) else {}
    return {}
