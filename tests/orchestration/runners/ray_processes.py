"""The processes of a command's private Ray, found under /proc."""

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Member(NamedTuple):
    """A living process."""

    pid: int
    words: str
    """Its command line."""


def ray_processes(command: int) -> list[Member]:
    """Processes of the session that a child of `command` leads, the child among them; zombies do not count."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            session = os.getsid(int(name))
            if session != os.getsid(command) and _parent(session) == command and _state(int(name)) not in "ZX":
                words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                found.append(Member(int(name), words))
    return found


def _fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _state(pid: int) -> str:
    return _fields(pid)[0]


def _parent(pid: int) -> int:
    return int(_fields(pid)[1])
