"""`gonn stop`: commands of this workspace are asked to pause; their trials write checkpoints, and the same command
resumes them later.

    commands/<token>/lease.json    held by a command that runs (`gonn_core.trial.lease`)
    commands/<token>/what          what it works on
    commands/<token>/stop          written by `gonn stop`; the command sees it at the next event of its trials

Files reach commands on every machine that shares the workspace. Nothing is ever killed.
"""

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import length_hint
from pathlib import Path

from gonn_core.errors import SettingError, UserError, printable
from gonn_core.files.whole import disk_error
from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from gonn_core.trial.lease import STALE_SECONDS, Lease, Process, live_holder
from orchestration.console import output
from orchestration.runners.base import JobSource, OnEvent, Runner, TrialOutcome
from reports.workspace import Workspace

POLL_SECONDS = 0.5
"""How often a command looks for the request, at most."""
PATIENCE_SECONDS = 120.0


class Stopped(UserError):
    """The command was asked to stop, and did."""

    exit_code = 130

    def __init__(self):
        super().__init__("stopped as asked; the same command resumes from here")


@contextmanager
def at_work(workspace: Workspace, what: str) -> Iterator[Callable[[], bool]]:
    """While this is entered, `gonn stop` finds the command. Yields a function: whether the command is to stop; it looks
    at most every half second. what: the id of a study or search, or a match."""
    checked, requested = 0.0, False

    def is_stopped() -> bool:
        nonlocal checked, requested
        if not requested and time.monotonic() >= checked + POLL_SECONDS:
            checked, requested = time.monotonic(), (folder / "stop").exists()
        return requested

    folder = workspace.root / "commands" / uuid.uuid4().hex
    try:
        folder.mkdir(parents=True)
        (folder / "what").write_text(what, encoding="utf-8")
        lease = Lease.take(folder)
    except OSError as error:
        raise disk_error(folder.parent, error) from None
    try:
        with lease:
            yield is_stopped
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _UntilStopped:
    """Jobs until the command is asked to stop; `places` learns how many they are."""

    def __init__(self, jobs: JobSource, is_stopped: Callable[[], bool]):
        self._jobs, self._is_stopped = jobs, is_stopped

    def __length_hint__(self) -> int:
        return length_hint(self._jobs, 2**31)

    def __iter__(self) -> Iterator[Job | None]:
        for job in self._jobs:
            yield job
            if self._is_stopped():
                return


def run_stoppably(
    runner: Runner, workspace: Workspace, what: str, jobs: JobSource, slots: int | None, on_event: OnEvent
) -> list[TrialOutcome]:
    """`runner.run`, which hands out no more jobs, and pauses those under way, once the command is asked to stop. Raises
    Stopped then, after every trial has its checkpoint."""
    with at_work(workspace, what) as is_stopped:

        def hear(event: Event) -> bool:
            resumes = on_event(event) is not False
            return resumes and not is_stopped()

        outcomes = runner.run(_UntilStopped(jobs, is_stopped), slots, hear)
        if is_stopped():
            raise Stopped
        return outcomes


@dataclass(frozen=True)
class Running:
    """A command that runs in this workspace. folder: has its lease."""

    what: str
    folder: Path
    process: Process

    @property
    def description(self) -> str:
        """One phrase for a terminal."""
        return f"{printable(self.what, 120)} (process {self.process.pid} on {printable(self.process.host, 60)})"


def stop(study: str | None, patience: float = PATIENCE_SECONDS) -> int:
    """Ask the commands of this workspace, or those on the study whose id begins so, to stop; waits until they have. 1
    when one still runs after `patience` seconds.

    Raises SettingError (STUDY) when nothing works on it.
    """
    workspace, console = Workspace.here(), output()
    running = everything_at_work(workspace)
    chosen = [
        command
        for command in running
        if study is None
        or command.what.startswith((study, f"match {study}"))
        or command.what.endswith(f"-{study}")  # six digits, as MLflow shows them
    ]
    if not chosen:
        if study is not None:
            ids = sorted({command.what for command in running})
            raise SettingError("STUDY", study, "no command works on it", ids or "none: nothing is running")
        console.print(f"nothing is running in {workspace.root}")
        return 0
    for command in chosen:
        with suppress(FileNotFoundError):  # it has just ended
            (command.folder / "stop").touch()
        console.print(f"asked to stop: {command.description}")
    left, end = chosen, time.monotonic() + patience
    while left := [command for command in left if live_holder(command.folder) is not None]:
        if time.monotonic() >= end:
            break
        time.sleep(0.2)
    for command in chosen:
        late = f"still at work after {patience:.0f} s; it stops at the next event of its trials"
        console.print(f"{late if command in left else 'stopped'}: {command.description}")
    return 1 if left else 0


def everything_at_work(workspace: Workspace) -> list[Running]:
    """Commands of the workspace, on any machine; folders of commands that were killed are removed."""
    running = []
    for folder in sorted((workspace.root / "commands").glob("*/")):
        with suppress(FileNotFoundError):  # it has just ended
            if (holder := live_holder(folder)) is not None:
                what = (folder / "what").read_text(encoding="utf-8", errors="replace")
                running.append(Running(what, folder, holder.process))
            elif time.time() - folder.stat().st_mtime > STALE_SECONDS:  # else it may be about to take its lease
                shutil.rmtree(folder, ignore_errors=True)
    return running
