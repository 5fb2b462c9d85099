"""The right to write in a trial's directory: one holder at a time, and none for ever.

`lease.json` names the holder; its modification time is the heartbeat. Every look at it that leads to an act (take,
renew, rename a file into place, release) is made under an exclusive lock on `lease.lock`, so of two processes exactly
one wins a take-over, and a holder that was overtaken can rename nothing any more. A holder that died on this machine is
replaced at once. One on another machine is when its heartbeat has not changed for a minute of the clock of whoever
waits for it (`Watch`): two machines' clocks need not agree. Who does not wait compares the heartbeat with the clock of
the file system, by which it was written too, where that has one of its own.
"""

import fcntl
import json
import os
import platform
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import InputError, UserError
from gonn_core.files.whole import write_whole


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


HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0
LONG_AGO_SECONDS = 3600.0
"""A heartbeat so old needs no watching: no clock in use is that wrong, and a holder that lives none the less can write
nothing any more."""


class Holder(NamedTuple):
    """Who holds a lease, under which token."""

    token: str
    process: Process


class LeaseHeld(UserError):
    """Another live process works on this trial."""

    def __init__(self, holder: Holder):
        self.holder = holder
        process = holder.process
        super().__init__(f"another command works on this trial (process {process.pid} on {process.host})")


class LeaseLost(RuntimeError):
    """Another process has taken this lease over; nothing may be written any more."""


class Watch:
    """What one process sees of the heartbeats of a lease, look by look, by its own clock alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._seen: tuple[str, float] | None = None
        self._since = 0.0

    def stands_still(self, token: str, heartbeat: float) -> bool:
        """Whether this heartbeat of this holder is all there was for `STALE_SECONDS`."""
        now = self._clock()
        if self._seen != (token, heartbeat):
            self._seen, self._since = (token, heartbeat), now
        return now - self._since >= STALE_SECONDS


def live_holder(folder: Path, watch: Watch | None = None, now: float | None = None) -> Holder | None:
    """Who holds the lease of `folder`, None when nobody who lives does.

    watch: of whoever looks again and again, for holders on other machines; None: their heartbeats are compared with
    `now`, seconds since 1970 (default: by this machine's clock).
    """
    path = folder / "lease.json"
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        heartbeat = path.stat().st_mtime
        holder = Holder(tree["token"], Process(**tree["process"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"not a lease ({error}); remove it if no command works on this trial") from None
    alive = is_alive(holder.process)
    if alive is None:
        age = (time.time() if now is None else now) - heartbeat
        if watch is None:
            alive = age < STALE_SECONDS
        else:
            alive = age < LONG_AGO_SECONDS and not watch.stands_still(holder.token, heartbeat)
    return holder if alive else None


def _file_system_now(folder: Path) -> float:
    """Seconds since 1970 by the clock that times of files in `folder` are taken from; while its lock is held."""
    os.utime(folder / "lease.lock")
    return (folder / "lease.lock").stat().st_mtime


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Not `files.workshop.locked`: a removed trial directory must stay removed, where filelock makes it again, and
    whoever waits here gets the lock at once, where filelock asks every so often."""
    with open(folder / "lease.lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield  # closing the file unlocks it


class Lease:
    """A lease held by this process, renewed by a thread until `release`; a context manager."""

    def __init__(self, folder: Path, token: str):
        self._folder, self._token = folder, token
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="lease", daemon=True)
        self._thread.start()

    @classmethod
    def take(cls, folder: Path, watch: Watch | None = None) -> "Lease":
        """The lease of `folder`. Raises LeaseHeld when a live process has it. watch: of whoever tries again and
        again."""
        with _locked(folder):
            holder = live_holder(folder, watch, _file_system_now(folder))
            if holder:
                raise LeaseHeld(holder)
            token = uuid.uuid4().hex
            tree = {"token": token, "process": this_process()._asdict()}
            write_whole(folder / "lease.json", json.dumps(tree).encode())
        return cls(folder, token)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """While this is entered the lease is held and cannot be taken over. Raises LeaseLost when it is no longer
        ours."""
        with _locked(self._folder):
            try:
                token = json.loads((self._folder / "lease.json").read_text(encoding="utf-8"))["token"]
            except FileNotFoundError:
                token = None
            if token != self._token:
                raise LeaseLost(f"{self._folder.name}: another process has taken this trial over")
            yield

    def _renew(self) -> None:
        while not self._stop.wait(HEARTBEAT_SECONDS):
            try:
                with self.guard():
                    os.utime(self._folder / "lease.json")  # no time given: the file system's
            except LeaseLost:
                return  # the next write of the worker finds out
            except OSError:
                continue  # a file system that hangs or is away for a moment: the next beat may succeed

    def release(self) -> None:
        """Give the lease back; does nothing when it has been lost."""
        self._stop.set()
        self._thread.join()
        try:
            with self.guard():
                (self._folder / "lease.json").unlink()
        except (LeaseLost, OSError):
            pass  # lost, or the directory is gone: nothing is left to give back

    def __enter__(self) -> "Lease":
        return self

    def __exit__(self, *_) -> None:
        self.release()
