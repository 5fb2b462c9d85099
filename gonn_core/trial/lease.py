"""The right to write in a trial's directory: one holder at a time, and none for ever.

`lease.json` names the holder; its modification time is the heartbeat. Every look at it that leads to an act (take,
renew, rename a file into place, release) is made under an exclusive lock on `lease.lock`, so of two processes exactly
one wins a take-over, and a holder that was overtaken can rename nothing any more. A holder that died on this machine is
replaced at once; one on another machine when its heartbeat is old (clocks are taken to agree to much better than that).
"""

import fcntl
import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import InputError, UserError
from gonn_core.files.whole import write_whole
from gonn_core.trial.process import Process, is_alive, this_process

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0


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


def live_holder(folder: Path) -> Holder | None:
    """Who holds the lease of `folder`, None when nobody who lives does."""
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
        alive = time.time() - heartbeat < STALE_SECONDS
    return holder if alive else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Not `files.locks.locked`: a trial's directory that was removed must stay so, where filelock makes it again, and
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
    def take(cls, folder: Path) -> "Lease":
        """The lease of `folder`. Raises LeaseHeld when a live process has it."""
        with _locked(folder):
            holder = live_holder(folder)
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
                    now = time.time()
                    os.utime(self._folder / "lease.json", (now, now))
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
