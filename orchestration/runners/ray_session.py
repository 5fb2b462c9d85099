"""Processes of one session of the operating system: Ray's, which a command must be able to end however Ray fares.

Ray's driver process leads a session of its own, and everything that Ray starts on this machine stays in it, orphans
too.
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

ROUNDS = 100
"""How often the members are looked for again: some are about to start others."""
PAUSE_SECONDS = 0.05


class Member(NamedTuple):
    """A process that lives."""

    pid: int
    words: str
    """Its command line, as it shows it."""


def members(leader: int) -> list[Member]:
    """Processes of the session that process `leader` began; it may be gone itself. Zombies do not count."""
    found = []
    for pid in _pids():
        try:
            if os.getsid(pid) == leader and (words := _words(pid)) is not None:
                found.append(Member(pid, words))
        except (ProcessLookupError, PermissionError):
            continue  # it has ended, or is not ours
    return found


def end_session(leader: int, but: int | None = None) -> None:
    """Kill all processes of the session, process `but` excepted, and see that they are gone."""
    for _ in range(ROUNDS):
        left = [each.pid for each in members(leader) if each.pid != but]
        if not left:
            return
        for pid in left:
            kill(pid)
        time.sleep(PAUSE_SECONDS)


def kill(pid: int) -> None:
    """End a process, if there still is one and it is ours."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _pids() -> list[int]:
    if Path("/proc/self/stat").exists():
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    listing = subprocess.run(["ps", "-axo", "pid="], capture_output=True, text=True).stdout
    return [int(word) for word in listing.split()]


def _words(pid: int) -> str | None:
    """What a process shows of its command line; None for one that is gone or a zombie."""
    if not Path("/proc/self/stat").exists():
        text = subprocess.run(["ps", "-o", "stat=,args=", "-p", str(pid)], capture_output=True, text=True).stdout
        state, _, words = text.strip().partition(" ")
        return None if not state or state[0] == "Z" else words
    try:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
            return None
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return None
