"""`gonn stop`: commands of this workspace are asked to pause; their trials write checkpoints, and the same command goes
on later.

    commands/<token>.json    a command at work: its process, what it works on; its modification time is a heartbeat
    commands/<token>.stop    the wish that it stop, which it sees at the next word of one of its trials

A wish is a file, so that it reaches commands on every machine that shares the workspace. A `python -m gonn_core.trial`
knows no
workspace: it gets SIGTERM, which asks for the same. Nothing is ever killed.
"""

import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gonn_core.errors import InputError, SettingError, UserError, printable
from gonn_core.files.json_files import write_json
from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from gonn_core.trial.lease import live_holder
from gonn_core.trial.process import Process, is_alive, this_process
from orchestration.console import output
from orchestration.runners.base import JobSource, OnEvent, Outcome, Runner
from reports.workspace import Workspace

LOOK_SECONDS = 0.5
"""How often a command looks for the wish, at most."""
STALE_SECONDS = 120.0
"""Age of the heartbeat after which a command on another machine counts as dead."""
PATIENCE_SECONDS = 120.0


class Stopped(UserError):
    """The command was asked to stop, and did."""

    exit_code = 130

    def __init__(self):
        super().__init__("stopped as asked; the same command goes on from here")


class Command:
    """This command, as others see it while it works; made by `at_work`."""

    def __init__(self, folder: Path, what: str):
        self._record = folder / f"{uuid.uuid4().hex}.json"
        self._wish = self._record.with_suffix(".stop")
        self._next, self._stop_requested = 0.0, False
        write_json(
            self._record,
            {
                "process": this_process()._asdict(),
                "what": what,
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
            },
        )

    @property
    def stop_requested(self) -> bool:
        """Whether it is to stop; looks at most every half second, and shows that it lives."""
        if not self._stop_requested and time.monotonic() >= self._next:
            self._next = time.monotonic() + LOOK_SECONDS
            self._stop_requested = self._wish.exists()
            try:
                os.utime(self._record)
            except OSError:
                pass  # removed by hand, or a file system that is away for a moment: nothing depends on it here
        return self._stop_requested

    def listening(self, on_event: OnEvent) -> OnEvent:
        """`on_event` that also asks for a pause once the command is to stop."""

        def hear(event: Event) -> bool:
            go_on = on_event(event) is not False
            return go_on and not self.stop_requested

        return hear

    def close(self) -> None:
        """The command has ended."""
        for path in (self._wish, self._record):
            path.unlink(missing_ok=True)


@contextmanager
def at_work(workspace: Workspace, what: str) -> Iterator[Command]:
    """While this is entered, `gonn stop` finds the command; `what` it works on: the id of a study or a search,
    or a match."""
    command = Command(_folder(workspace), what)
    try:
        yield command
    finally:
        command.close()


class StoppableRunner:
    """A runner that hands out no more jobs, and pauses those under way, once its command is asked to stop."""

    def __init__(self, runner: Runner, workspace: Workspace, what: str):
        self._runner, self._workspace, self._what = runner, workspace, what

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. Raises Stopped when asked to, after every trial has its checkpoint."""
        with at_work(self._workspace, self._what) as command:
            outcomes = self._runner.run(
                _until(jobs, lambda: command.stop_requested), slots, command.listening(on_event)
            )
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
class AtWork:
    """A command, or a lone trial, that somebody runs in this workspace."""

    what: str
    process: Process
    record: Path | None
    """None for a lone trial."""

    @property
    def description(self) -> str:
        """One phrase for eyes."""
        return f"{printable(self.what, 120)} (process {self.process.pid} on {printable(self.process.host, 60)})"

    def request_stop(self) -> None:
        """Ask it to stop."""
        if self.record is not None:
            self.record.with_suffix(".stop").touch()
        elif is_alive(self.process):
            try:
                os.kill(self.process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass  # it has just ended

    def over(self) -> bool:
        """Whether it has ended."""
        return _is_dead(self.process, self.record) or (self.record is not None and not self.record.exists())


def stop(study: str | None, patience: float = PATIENCE_SECONDS) -> int:
    """Ask what works in this workspace, or on the study whose id begins so, to stop; waits until it has. 1 when
    something goes on.

    Raises SettingError (STUDY) when nothing works on it.
    """
    workspace, console = Workspace.here(), output()
    running = everything_at_work(workspace)
    chosen = [each for each in running if study is None or each.what.startswith(study)]
    if not chosen:
        if study is not None:
            raise SettingError(
                "STUDY",
                study,
                "no command works on it",
                sorted({each.what for each in running}) or "none: nothing is running",
            )
        console.print(f"nothing is running in {workspace.root}")
        return 0
    for each in chosen:
        each.request_stop()
        console.print(f"asked to stop: {each.description}")
    end = time.monotonic() + patience
    while (left := [each for each in chosen if not each.over()]) and time.monotonic() < end:
        time.sleep(0.2)
    for each in left:
        console.print(
            f"still at work after {patience:.0f} s: {each.description}; it stops at the next word of its trials"
        )
    for each in chosen:
        if each not in left:
            console.print(f"stopped: {each.description}")
    return 1 if left else 0


def everything_at_work(workspace: Workspace) -> list[AtWork]:
    """Commands of the workspace, on any machine, and lone trials of this machine; records of commands that were killed
    are removed."""
    running = []
    for path in sorted(_folder(workspace).glob("*.json")):
        each = _read(path)
        if each is None or _is_dead(each.process, path):
            for gone in (path.with_suffix(".stop"), path):
                gone.unlink(missing_ok=True)
        else:
            running.append(each)
    own = {each.process.pid for each in running}
    for path in sorted(workspace.runs.glob("*/lease.json")):
        holder = live_holder(path.parent)
        if (
            holder is not None
            and is_alive(holder.process)
            and holder.process.pid not in own
            and "gonn_core.trial" in _command_line(holder.process.pid)
        ):
            running.append(AtWork(path.parent.name, holder.process, None))
    return running


def _folder(workspace: Workspace) -> Path:
    return workspace.root / "commands"


def _read(path: Path) -> AtWork | None:
    """A command's record; None when it has just gone. Raises InputError for a file that is none."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
        return AtWork(str(tree["what"]), Process(**tree["process"]), path)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"not the record of a command ({error}); remove it") from None


def _is_dead(process: Process, record: Path | None) -> bool:
    alive = is_alive(process)
    if alive is not None:
        return not alive
    try:
        return record is None or time.time() - record.stat().st_mtime > STALE_SECONDS
    except FileNotFoundError:
        return True


def _command_line(pid: int) -> str:
    """Words of a process of this machine, empty when it has ended."""
    if not Path("/proc/self/cmdline").exists():  # no Linux
        return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True).stdout
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
