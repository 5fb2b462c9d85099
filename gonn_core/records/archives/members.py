"""Untrusted archives and folders as streams of game files. Nothing is ever extracted; a member's name is only a name.

Links, devices, nested archives, oversized and unreadable kinds of members are skipped and counted; damage to an archive
as a whole (truncation, a wrong checksum) stops with one line that names the file and the place.
"""

import glob
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import InputError, SettingError
from gonn_core.records.report import Tally

ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
NESTED_SUFFIXES = ARCHIVE_SUFFIXES + (".gz", ".bz2", ".xz", ".7z", ".rar", ".lzh", ".zst", ".tzst")
MAX_MEMBERS = 5_000_000
MAX_GAME_BYTES = 1 << 20
MAX_TOTAL_BYTES = 20 << 30


class Member(NamedTuple):
    """One game file: its name inside the source and its bytes."""

    name: str
    data: bytes


@dataclass
class Reading:
    """Limits that hold over all sources of one build, and what was passed over so far."""

    max_members: int = MAX_MEMBERS
    max_game_bytes: int = MAX_GAME_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES
    members: int = 0
    total_bytes: int = 0
    fraction: float = 0.0  # of the present source that has been read
    ignored: dict[str, Tally] = field(default_factory=dict)

    def ignore(self, why: str, name: str):
        """Count a member that is not read."""
        self.ignored.setdefault(why, Tally()).add(name)

    def add_member(self, path):
        """Count one member of any kind. Raises InputError beyond the limit."""
        self.members += 1
        if self.members > self.max_members:
            raise InputError(path, f"more than {self.max_members:,} members in all")

    def add_bytes(self, path, count: int):
        """Count uncompressed bytes read. Raises InputError beyond the limit."""
        self.total_bytes += count
        if self.total_bytes > self.max_total_bytes:
            raise InputError(path, f"more than {self.max_total_bytes / (1 << 30):.3g} GiB uncompressed in all")

    def wants(self, name: str, size: int) -> bool:
        """Whether a regular member is a game to be read; counts it as ignored when not."""
        lower = name.lower()
        if not lower.endswith(".sgf"):
            self.ignore("nested archive" if lower.endswith(NESTED_SUFFIXES) else "not an SGF file", name)
        elif size > self.max_game_bytes:
            self.ignore("too large", name)
        else:
            return True
        return False


def is_archive(path) -> bool:
    """Whether the name is that of an archive this module reads."""
    return str(path).lower().endswith(ARCHIVE_SUFFIXES)


def find_sources(where: str | os.PathLike) -> list[Path]:
    """Source files that a path, folder or glob stands for, sorted: archives each by itself, a folder for its loose .sgf
    files.

    Archives anywhere below a folder are sources of their own; links below it are not followed. Raises SettingError when
    there is nothing.
    """
    where = os.path.expanduser(os.fspath(where))
    if os.path.exists(where):
        paths = [where]
    else:
        paths = sorted(glob.glob(where, recursive=True)) if glob.has_magic(where) else []
        if not paths:
            raise SettingError(
                "DATA",
                where,
                "no such file or folder",
                "a folder, an .sgf file, an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), a glob",
            )
    sources = []
    for path in map(Path, paths):
        if path.is_dir():
            if any(child.suffix.lower() == ".sgf" and stat.S_ISREG(info.st_mode) for child, info in _walk(path)):
                sources.append(path)
            sources += list_archives(path)
        elif is_archive(path) or path.suffix.lower() == ".sgf":
            sources.append(path)
    if not sources:
        raise SettingError(
            "DATA",
            where,
            "no .sgf file and no archive there",
            "a folder, an .sgf file, an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), a glob",
        )
    return list(dict.fromkeys(sources))


def list_archives(folder: Path) -> list[Path]:
    """All archives below a folder, in a fixed order; links are not followed. Raises InputError when it cannot be
    read."""
    try:
        return [path for path, info in _walk(folder) if stat.S_ISREG(info.st_mode) and is_archive(path)]
    except OSError as error:
        raise InputError(folder, error.strerror or str(error)) from None


def read_members(path: Path, reading: Reading, name: str | None = None) -> Iterator[Member]:
    """Game files of one source in a fixed order: archive order, or names sorted for a folder. Raises InputError on
    damage.

    `name` is the name whose suffix says what the file is, by default its own.
    """
    from gonn_core.records.archives.tar import read_tar
    from gonn_core.records.archives.zip import read_zip

    reading.fraction = 0.0
    name = name or path.name
    try:
        if path.is_dir():
            yield from _read_folder(path, reading)
        elif name.lower().endswith(".zip"):
            yield from read_zip(path, reading)
        elif is_archive(name):
            yield from read_tar(path, reading, name)
        else:
            reading.add_member(path)
            yield from _read_file(path, name, reading)
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All entries below a folder that are no folders, with their lstat, in sorted order; links are not followed."""
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        pending += [Path(entry.path) for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path), entry.stat(follow_symlinks=False)


def _read_folder(folder: Path, reading: Reading) -> Iterator[Member]:
    entries = sum(1 for _ in _walk(folder))
    for i, (path, info) in enumerate(_walk(folder)):
        reading.fraction = i / max(1, entries)
        reading.add_member(folder)
        name = path.relative_to(folder).as_posix()
        if not stat.S_ISREG(info.st_mode):
            reading.ignore("link" if stat.S_ISLNK(info.st_mode) else "device", name)
        elif is_archive(path):
            continue  # a source of its own
        else:
            yield from _read_file(path, name, reading)


def _read_file(path: Path, name: str, reading: Reading) -> Iterator[Member]:
    # Opened without following links or waiting for a writer, and only then looked at: the entry may have been
    # exchanged.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            reading.ignore("device", name)
        elif reading.wants(name, info.st_size):
            data = file.read(reading.max_game_bytes + 1)
            reading.add_bytes(path, len(data))
            if len(data) > reading.max_game_bytes:
                reading.ignore("too large", name)
            else:
                yield Member(name, data)
