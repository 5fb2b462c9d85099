"""Which process on which machine: to tell whether the holder of a lease still lives."""

import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process, told from a later one with the same pid by its start time. `machine` differs between hosts, boots and
    pid namespaces."""

    pid: int
    started: str
    machine: str

    @property
    def host(self) -> str:
        """The machine's name, for people."""
        return self.machine.split("/")[0]


@cache
def _machine() -> str:
    parts = [platform.node()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:  # no Linux: the start time alone tells boots apart
        pass
    return "/".join(parts)


def started(pid: int) -> str | None:
    """When a process of this machine started, in no particular unit; None when it is dead or a zombie."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if fields[0] in "ZX" else fields[19]
    return _started_by_ps(pid)


def _started_by_ps(pid: int) -> str | None:
    # ps writes a date: in the language and time zone of whoever asks, unless told otherwise.
    plain = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    text = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, env=plain
    ).stdout.strip()
    return None if not text or text[0] == "Z" else " ".join(text.split()[1:])


def this_process() -> Process:
    """The calling process."""
    return Process(os.getpid(), started(os.getpid()) or "", _machine())


def is_alive(process: Process) -> bool | None:
    """Whether `process` lives; None when it belongs to another machine, so that it cannot be known."""
    if process.machine != _machine():
        return None
    return started(process.pid) == process.started
