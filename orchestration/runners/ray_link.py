"""The process in which Ray runs, as its command sees it: what it says, whether it lives, and its end.

Ray's client ends its process when Ray fails (SIGABRT, and a stack trace), or waits for ever. So it has a process, and
a session of the operating system, of its own, and the command goes on whatever becomes of them.
"""

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any

from orchestration.runners.base import Places
from orchestration.runners.ray_scratch import note_leader
from orchestration.runners.ray_session import end_session

SILENCE_SECONDS = 20.0
"""Ray counts as dead when its process has not said for so long that Ray answers; it says so every two seconds."""
GOODBYE_SECONDS = 10.0
"""Patience with a process that leaves a cluster."""


@dataclass(frozen=True)
class Plan:
    """What Ray's process is to do."""

    address: str | None
    """Of a cluster; None: a private one."""
    function: str
    where: Places
    slots: int | None
    runs: str
    store: str
    """Folders of the jobs."""
    device: str
    folder: Path
    """Its scratch."""
    start_seconds: int
    """Patience with a private cluster that starts."""
    environment: Mapping[str, str]
    """Of a private cluster: its GPUs, which Ray deals out whatever it finds of its own, and how they are shared."""


@dataclass(frozen=True)
class Up:
    """Ray is there; the cores and GPUs of all its nodes."""

    cpus: int
    gpus: int


@dataclass(frozen=True)
class Beat:
    """Ray answers."""


@dataclass(frozen=True)
class Call:
    """A call of a method of `RayStudy`; what it returns is sent back."""

    method: str
    arguments: tuple


@dataclass(frozen=True)
class Over:
    """All jobs have ended."""


@dataclass(frozen=True)
class Down:
    """Ray has ended; how, in words that follow "Ray ended: "."""

    why: str


@dataclass(frozen=True)
class NotStarted:
    """A private cluster did not start; why, in Ray's words."""

    why: str


@dataclass(frozen=True)
class Refused:
    """A user's error, as one line."""

    line: str


@dataclass(frozen=True)
class Broken:
    """An error that is nobody's but ours."""

    line: str
    traceback: str


Message = Up | Call | Over | Down | NotStarted | Refused | Broken


def how_it_ended(code: int | None) -> str:
    """Words for the exit code of a process."""
    if code is None:
        return "does not answer"
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


class RayProcess:
    """Ray's process; `end` it in any case."""

    def __init__(self, serve: Callable[[Any, Plan], None], plan: Plan):
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._gentle = plan.address is not None
        self._process = context.Process(target=serve, args=(theirs, plan), daemon=True, name="ray")
        self._process.start()
        theirs.close()  # now that process holds the only copy: its death is the end of this pipe
        note_leader(plan.folder, self._leader)
        self._silence, self._patience = 0.0, 2.0 * plan.start_seconds

    @property
    def _leader(self) -> int:
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    def listen(self) -> Message:
        """What it says next; Down when it is dead, or silent for too long."""
        while True:
            before = time.monotonic()
            ready = connection.wait([self._pipe], 1.0)
            self._silence += min(time.monotonic() - before, 1.0)  # a pause of this very process does not count
            if not ready:
                if self._silence < self._patience:
                    continue
                return self._dead(f"no answer for {self._silence:.0f} seconds")
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                self._process.join(1)
                return self._dead(f"its driver {how_it_ended(self._process.exitcode)}")
            if isinstance(message, Down):
                return self._dead(message.why)
            if not isinstance(message, Beat):
                return message
            self._silence, self._patience = 0.0, SILENCE_SECONDS

    def _dead(self, why: str) -> Down:
        self._gentle = False  # there is nobody to take leave of
        return Down(why)

    def answer(self, value: object) -> None:
        """Send back what a call returned."""
        with suppress(BrokenPipeError, ConnectionResetError):  # it just died: `listen` finds out
            self._pipe.send(value)

    def end(self) -> None:
        """End it and all of Ray that it started, at once; from a cluster it takes its leave, within some seconds.

        Whatever trials wrote is whole or invisible.
        """
        if self._gentle and self._process.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self._leader, signal.SIGINT)
            self._process.join(GOODBYE_SECONDS)
        self._process.kill()
        end_session(self._leader)
        self._process.join()
        self._process.close()
        self._pipe.close()
