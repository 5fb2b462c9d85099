"""Large files compared with their digests when they are opened: by the first process on a machine, again once the
machine has restarted or a day has passed, and after every change. What was right is noted in their folder, for all
processes.

A change is one of size, modification time or time of the inode, which no program can set back. A file that is copied
counts as changed. The note is of no value of its own: where it is gone, damaged or cannot be written, files are read
again.
"""

import hashlib
import platform
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from gonn_core.errors import UserError
from gonn_core.files.seals import checked_json, sealed_json
from gonn_core.files.whole import write_whole

NOTE = ".verified"
VALID_SECONDS = 86400.0


def verify_once(
    folder: Path, files: Mapping[str, str], check: Callable[[str], None], check_all: Callable[[], None] | None = None
) -> None:
    """Call `check` with each name in `files` (name in `folder` -> what its content is held against, such as a digest)
    that this machine has not verified since it started, within a day and since it changed; then `check_all`, where
    there was one. Raises what they raise, OSError for a file that is gone."""
    now, known, new = time.time(), _read(folder), {}
    for name, against in files.items():
        entry, key = [*_stamp(folder / name), against], f"{_boot()} {name}"
        if known.get(key, [])[:-1] != entry or not 0 <= now - known[key][-1] < VALID_SECONDS:
            check(name)
            new[key] = [*entry, now]
    if new:
        if check_all is not None:
            check_all()
        # Entries of other machines stay: several may share the folder.
        kept = {key: entry for key, entry in {**known, **new}.items() if 0 <= now - entry[-1] < VALID_SECONDS}
        with suppress(OSError):
            write_whole(folder / NOTE, sealed_json(kept), flush=False)


def file_digest(path: Path, skipped: int = 0) -> str:
    """64 hex digits of a file's bytes from `skipped` on. Raises OSError, ValueError for a negative number."""
    with open(path, "rb") as file:
        file.seek(skipped)
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _boot() -> str:
    """What differs between machines, and between two starts of one; without Linux the machine's name alone."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return platform.node()


def _stamp(path: Path) -> list[int]:
    about = path.stat()
    return [about.st_size, about.st_mtime_ns, about.st_ctime_ns]


def _read(folder: Path) -> dict[str, list]:
    """Boot and name of a file -> size, mtime, ctime, what it was held against, seconds since 1970."""
    path = folder / NOTE
    with suppress(OSError, ValueError, RecursionError, UserError, AttributeError, TypeError, LookupError):
        tree = checked_json(path, path.read_bytes())
        return {key: entry for key, entry in tree.items() if isinstance(entry[-1], float)}
    return {}
