"""The right to write in a trial's directory: one holder at a time, and none for ever.

`lease.json` names the holder; its modification time is the heartbeat. Every check of it that leads to an act (take,
renew, rename a file into place, release) is made under an exclusive lock on `lease.lock`. So of two processes exactly
one wins a take-over, and a holder that was overtaken cannot rename anything any more. A dead holder on this machine is
replaced at once; one on another machine is replaced when its heartbeat is a minute old. Heartbeat and present time are
both taken from the file system, so the clocks of machines that share a file server need not agree.
"""

import fcntl
import json
import os
import platform
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import InputError, UserError
from gonn_core.files.whole import write_whole

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0


class Process(NamedTuple):
    """A process; its start time distinguishes it from a later one with the same pid. `machine` differs between hosts,
    boots and pid namespaces."""

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
    except OSError:  # not Linux: the start time alone distinguishes boots
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
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    plain = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}  # or the date follows the caller's language and time zone
    text = subprocess.run(command, capture_output=True, text=True, env=plain).stdout.strip()
    return None if not text or text[0] == "Z" else " ".join(text.split()[1:])


def this_process() -> Process:
    """The calling process."""
    return Process(os.getpid(), started(os.getpid()) or "", _machine())


def is_alive(process: Process) -> bool | None:
    """Whether `process` lives; None when it belongs to another machine, so that it cannot be known."""
    if process.machine != _machine():
        return None
    return started(process.pid) == process.started


class Holder(NamedTuple):
    """The process that holds a lease, and its token."""

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


def live_holder(folder: Path, now: float | None = None) -> Holder | None:
    """The live holder of the lease of `folder`, if any.

    now: seconds since 1970 that heartbeats of other machines are compared with, by default this machine's clock.
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
        alive = (time.time() if now is None else now) - heartbeat < STALE_SECONDS
    return holder if alive else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Not `files.whole.locked`: filelock would create a removed trial directory again, and it polls."""
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
    def take(cls, folder: Path) -> "Lease":
        """The lease of `folder`. Raises LeaseHeld when a live process has it."""
        with _locked(folder):
            os.utime(folder / "lease.lock")  # no time given: the file system's
            holder = live_holder(folder, (folder / "lease.lock").stat().st_mtime)
            if holder:
                raise LeaseHeld(holder)
            token = uuid.uuid4().hex
            tree = {"token": token, "process": this_process()._asdict()}
            write_whole(folder / "lease.json", json.dumps(tree).encode())
        return cls(folder, token)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Within this the lease is held and cannot be taken over. Raises LeaseLost when it is no longer ours."""
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
                    os.utime(self._folder / "lease.json")
            except LeaseLost:
                return  # the worker's next write raises
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
            pass  # lost, or the directory was removed

    def __enter__(self) -> "Lease":
        return self

    def __exit__(self, *_) -> None:
        self.release()
