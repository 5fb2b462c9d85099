"""Where the games of a store come from: sources, and the checksums by which they are known again."""

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from gonn_core.errors import InputError
from gonn_core.records.archives.members import read_members
from gonn_core.records.archives.reading import ArchiveReading


@dataclass(frozen=True)
class GameSource:
    """An archive, .sgf file or folder; how its ranks are meant (`sgf.properties.RANK_SCHEMES`); the collection it
    belongs to.

    lenient: games of anybody's own, read without the documents' rules on names and SZ, in UTF-16 too; of several such
    sources one that cannot be read is passed over and named.
    """

    path: Path
    rank_scheme: str = "kgs"
    label: str = ""
    lenient: bool = False


def checked_sources(sources: Sequence[GameSource], reading: ArchiveReading) -> tuple[list[GameSource], list[str]]:
    """The sources that can be read, and their checksums; others are counted in `reading`. Raises InputError."""
    kept, checksums = [], []
    for source in sources:
        try:
            checksums.append(_checksum(source.path))
        except OSError as error:
            if not source.lenient or len(sources) == 1:
                raise InputError(source.path, error.strerror or str(error)) from None
            reading.ignore_unreadable(error, source.path.name)
        else:
            kept.append(source)
    if not kept:
        raise InputError(sources[0].path, f"nothing there can be read ({_all_ignored(reading)})")
    return kept, checksums


def _all_ignored(reading: ArchiveReading) -> str:
    return "; ".join(f"{why}: {', '.join(names.names)}" for why, names in reading.ignored.items())


def _checksum(path: Path) -> str:
    """sha256 of a file, or of names and contents of a folder's .sgf files and of the names of what cannot be read
    there. Raises OSError for the source itself."""
    if not path.is_dir():
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    os.scandir(path).close()
    digest, reading = hashlib.sha256(), ArchiveReading()
    for name, data in read_members(path, reading):
        digest.update(f"{len(name)} {len(data)} ".encode() + name.encode("utf-8", "backslashreplace"))
        digest.update(data)
    if passed_over := unread(reading):
        digest.update(json.dumps(passed_over).encode())
    return digest.hexdigest()


def stamp(path: Path) -> list[tuple]:
    """What changes with a source: sizes, times and numbers of a file, or of all games below a folder (a workspace may
    lie there too); a file that was exchanged for another and put back has another time of its inode. Empty for what is
    not there."""
    found = []
    for folder, _, files in os.walk(path) if path.is_dir() else [(str(path.parent), [], [path.name])]:
        for name in [each for each in files if not path.is_dir() or each.lower().endswith(".sgf")]:
            with suppress(OSError):
                about = os.lstat(os.path.join(folder, name))
                found.append((folder, name, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
    return sorted(found)


def unread(reading: ArchiveReading) -> list:
    """What could not be read: part of a source's name, so that the report of a store that is found tells of it."""
    return [[why, *asdict(names).values()] for why, names in reading.unread.items()]
