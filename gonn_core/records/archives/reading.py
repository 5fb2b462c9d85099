"""What holds while archives are read, whatever their kind: limits over all sources, and what was passed over."""

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
    """Limits that hold over all sources of one build, and what was passed over so far."""

    max_members: int = MAX_MEMBERS
    max_game_bytes: int = MAX_GAME_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES
    members: int = 0
    total_bytes: int = 0
    fraction: float = 0.0  # of the present source that has been read
    ignored: dict[str, NamedCount] = field(default_factory=dict)
    unread: dict[str, NamedCount] = field(default_factory=dict)  # of `ignored`, what the system would not give

    def ignore(self, why: str, name: str) -> None:
        """Count a member that is not read."""
        self.ignored.setdefault(why, NamedCount()).add(name)

    def ignore_unreadable(self, error: OSError, name: str) -> None:
        """Count a file or folder that cannot be opened or read."""
        why = (error.strerror or str(error)).lower()
        self.ignore(why, name)
        self.unread[why] = self.ignored[why]

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
