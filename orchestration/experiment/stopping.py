"""`gonn stop`: commands of this workspace are asked to pause; their trials write checkpoints, and the same command
resumes them later.

    commands/<token>/lease.json    held by a command that runs (`gonn_core.trial.lease`)
    commands/<token>/what          what it works on
    commands/<token>/stop          written by `gonn stop`; the command sees it at the next event of its trials

Files reach commands on every machine that shares the workspace. A `python -m gonn_core.trial` knows no workspace: it
gets SIGTERM, which asks for the same. Nothing is ever killed.
"""

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import SettingError, UserError, printable
from gonn_core.files.whole import disk_error
from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from gonn_core.trial.lease import STALE_SECONDS, Lease, Process, is_alive, live_holder
from orchestration.console import output
from orchestration.runners.base import JobSource, OnEvent, Outcome, Runner
from reports.workspace import Workspace

POLL_SECONDS = 0.5
"""How often a command looks for the request, at most."""
PATIENCE_SECONDS = 120.0


class Stopped(UserError):
    """The command was asked to stop, and did."""

    exit_code = 130

    def __init__(self):
        super().__init__("stopped as asked; the same command goes on from here")


class Command:
    """This command, as others see it while it runs; made by `at_work`."""

    def __init__(self, folder: Path):
        self._request = folder / "stop"
        self._next, self._stop_requested = 0.0, False

    @property
    def stop_requested(self) -> bool:
        """Whether it is to stop; looks at most every half second."""
        if not self._stop_requested and time.monotonic() >= self._next:
            self._next = time.monotonic() + POLL_SECONDS
            self._stop_requested = self._request.exists()
        return self._stop_requested


@contextmanager
def at_work(workspace: Workspace, what: str) -> Iterator[Command]:
    """While this is entered, `gonn stop` finds the command. what: the id of a study or search, or a match."""
    folder = _commands(workspace) / uuid.uuid4().hex
    try:
        folder.mkdir(parents=True)
        (folder / "what").write_text(what, encoding="utf-8")
        lease = Lease.take(folder)
    except OSError as error:
        raise disk_error(folder.parent, error) from None
    try:
        with lease:
            yield Command(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class StoppableRunner:
    """A runner that hands out no more jobs, and pauses those under way, once its command is asked to stop."""

    def __init__(self, runner: Runner, workspace: Workspace, what: str):
        self._runner, self._workspace, self._what = runner, workspace, what

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. Raises Stopped when asked to, after every trial has its checkpoint."""
        with at_work(self._workspace, self._what) as command:

            def hear(event: Event) -> bool:
                resumes = on_event(event) is not False
                return resumes and not command.stop_requested

            outcomes = self._runner.run(_until(jobs, lambda: command.stop_requested), slots, hear)
            if command.stop_requested:
                raise Stopped
            return outcomes


class _SizedJobs:
    """Jobs whose number is known, until it is time to stop."""

    def __init__(self, jobs, over: Callable[[], bool]):
        self._jobs, self._over = jobs, over

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job | None]:
        return _some(self._jobs, self._over)


def _until(jobs: JobSource, over: Callable[[], bool]) -> JobSource:
    return _SizedJobs(jobs, over) if isinstance(jobs, Sized) else _some(jobs, over)


def _some(jobs: JobSource, over: Callable[[], bool]) -> Iterator[Job | None]:
    jobs = iter(jobs)
    while not over():
        try:
            yield next(jobs)
        except StopIteration:
            return


@dataclass(frozen=True)
class Running:
    """A command, or a lone trial, that somebody runs in this workspace."""

    what: str
    folder: Path
    """Has its lease."""
    process: Process
    is_command: bool

    @property
    def description(self) -> str:
        """One phrase for a terminal."""
        return f"{printable(self.what, 120)} (process {self.process.pid} on {printable(self.process.host, 60)})"

    def request_stop(self) -> None:
        """Ask it to stop."""
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            if self.is_command:
                (self.folder / "stop").touch()
            elif is_alive(self.process):
                os.kill(self.process.pid, signal.SIGTERM)

    def has_ended(self) -> bool:
        """Whether it no longer holds its lease."""
        holder = live_holder(self.folder)
        return holder is None or holder.process != self.process


def stop(study: str | None, patience: float = PATIENCE_SECONDS) -> int:
    """Ask what runs in this workspace, or works on the study whose id begins so, to stop; waits until it has. 1 when
    something still runs after `patience` seconds.

    Raises SettingError (STUDY) when nothing works on it.
    """
    workspace, console = Workspace.here(), output()
    running = everything_at_work(workspace)
    chosen = [command for command in running if study is None or command.what.startswith(study)]
    if not chosen:
        if study is not None:
            ids = sorted({command.what for command in running})
            raise SettingError("STUDY", study, "no command works on it", ids or "none: nothing is running")
        console.print(f"nothing is running in {workspace.root}")
        return 0
    for command in chosen:
        command.request_stop()
        console.print(f"asked to stop: {command.description}")
    end = time.monotonic() + patience
    while (left := [command for command in chosen if not command.has_ended()]) and time.monotonic() < end:
        time.sleep(0.2)
    for command in left:
        console.print(
            f"still at work after {patience:.0f} s: {command.description}; it stops at the next event of its trials"
        )
    for command in chosen:
        if command not in left:
            console.print(f"stopped: {command.description}")
    return 1 if left else 0


def everything_at_work(workspace: Workspace) -> list[Running]:
    """Commands of the workspace, on any machine, and lone trials of this machine; folders of commands that were killed
    are removed."""
    running = []
    for folder in sorted(_commands(workspace).glob("*/")):
        with suppress(FileNotFoundError):  # it has just ended
            if (holder := live_holder(folder)) is not None:
                what = (folder / "what").read_text(encoding="utf-8", errors="replace")
                running.append(Running(what, folder, holder.process, True))
            elif time.time() - folder.stat().st_mtime > STALE_SECONDS:  # else it may be about to take its lease
                shutil.rmtree(folder, ignore_errors=True)
    commands = {command.process.pid for command in running}
    for path in sorted(workspace.runs.glob("*/lease.json")):
        holder = live_holder(path.parent)
        if holder is None or not is_alive(holder.process) or holder.process.pid in commands:
            continue
        if "gonn_core.trial" in _command_line(holder.process.pid):
            running.append(Running(path.parent.name, path.parent, holder.process, False))
    return running


def _commands(workspace: Workspace) -> Path:
    return workspace.root / "commands"


def _command_line(pid: int) -> str:
    """Words of a process of this machine, empty when it has ended."""
    if not Path("/proc/self/cmdline").exists():  # no Linux
        return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True).stdout
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
