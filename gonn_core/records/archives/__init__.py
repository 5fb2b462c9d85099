"""Untrusted archives and folders as bounded streams of game files.

An archive may be made to do harm. What prevents it, and where:

* Nothing is extracted: members are read as streams. A member's name is never used as a path, and is made printable
  before it is shown (`NamedCount.add`, `errors.InputError`).
* Links, devices, sparse files, encrypted members, nested archives and whatever is no .sgf file are skipped and counted
  by reason. A folder's entry is opened without blocking and only then examined (`members.py`).
* Limits over all sources of a build together: members and uncompressed bytes; per game its bytes. The size that a
  directory or header claims is not trusted: one byte more than the limit is read.
* Linear time: no pattern scans a text twice, no buffer is copied for each piece that arrives.
* Bounded memory: the xz decoder's (`tar.XZ_MEMORY`), extended headers of tar, the central directory of zip. LZMA in
  zip is skipped, since its memory cannot be bounded.
* Damage to an archive as a whole (truncation, a wrong checksum, invalid headers), or a file that cannot be opened,
  stops with one line that names the file and the place: a part of its games would be another collection. A single bad
  game never stops a build: `records.sgf` counts it, with limits of its own on nodes and setup stones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gonn_core.errors import InputError, printable

ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
NESTED_SUFFIXES = ARCHIVE_SUFFIXES + (".gz", ".bz2", ".xz", ".7z", ".rar", ".lzh", ".zst", ".tzst")
MAX_MEMBERS = 5_000_000
MAX_GAME_BYTES = 1 << 20
MAX_TOTAL_BYTES = 20 << 30
MOST_NAMES = 5


@dataclass
class NamedCount:
    """A count and the names of the first few."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """Count one more; its name is kept, printable, when it is among the first."""
        self.count += 1
        if len(self.names) < MOST_NAMES:
            self.names.append(printable(name))


class Member(NamedTuple):
    """One game file: its name inside the source and its bytes."""

    name: str
    data: bytes


@dataclass
class ArchiveReading:
    """Limits that hold over all sources of one build, and what was skipped."""

    max_members: int = MAX_MEMBERS
    max_game_bytes: int = MAX_GAME_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES
    members: int = 0
    total_bytes: int = 0
    fraction: float = 0.0  # share of the present source that has been read
    ignored: dict[str, NamedCount] = field(default_factory=dict)

    def ignore(self, why: str, name: str) -> None:
        """Count a member that is not read."""
        self.ignored.setdefault(why, NamedCount()).add(name)

    def add_member(self, path) -> None:
        """Count one member of any kind. Raises InputError beyond the limit."""
        self.members += 1
        if self.members > self.max_members:
            raise InputError(path, f"more than {self.max_members:,} members in all")

    def add_bytes(self, path, count: int) -> None:
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

    def bounded(self, path, name: str, file) -> Iterator[Member]:
        """The game in an open file, one byte more than the limit read at most; nothing where its size was a lie."""
        data = file.read(self.max_game_bytes + 1)
        self.add_bytes(path, len(data))
        if len(data) <= self.max_game_bytes:
            yield Member(name, data)
        else:
            self.ignore("too large", name)
