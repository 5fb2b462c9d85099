"""Where the time of a study's slots went: training steps, evaluation, starting, waiting. Heard from the events; kept
beside the study."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import Damaged, UserError
from gonn_core.files.json_files import read_record, write_json
from gonn_core.files.locks import locked
from gonn_core.files.told import tell
from gonn_core.trial.events import Begun, Event, Failed, Finished, Paused, Point, Retried, Started, Tick, Waiting
from orchestration.progress import duration
from orchestration.runners.base import JobSource, OnEvent, Outcome, Runner

SESSIONS_FILE = "sessions.json"
FORMAT = 1
_ENDS = (Finished, Failed, Paused, Retried)


@dataclass(frozen=True)
class Spent:
    """Seconds of one command's slots; all but the first two are summed over the slots."""

    slots: int
    """The most trials at a time."""
    wall: float
    training: float
    """In training steps."""
    evaluation: float
    """Looks along and at the end, checkpoints, the first batch."""
    start: float
    """Of the runner, of workers, of trials until their first step is due."""
    waiting: float
    """Slots without a trial, and trials that another command works on."""

    @property
    def line(self) -> str:
        """One line for eyes."""
        total = self.slots * self.wall
        parts = {
            "training": self.training,
            "evaluation": self.evaluation,
            "start-up": self.start,
            "waiting": self.waiting,
        }
        shares = ", ".join(
            f"{name} {duration(value)} ({100 * value / total if total else 0:.1f} %)" for name, value in parts.items()
        )
        return f"time: {self.slots} slot{'s' * (self.slots != 1)} x {duration(self.wall)}: {shares}"


@dataclass
class _Open:
    begun: float
    phase: str = "start"
    before: float | None = None
    """Training seconds of earlier sessions."""
    trained: float = 0.0


class Account:
    """Adds up what events say, from now until `close`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._began = self._last = clock()
        self._open: dict[str, _Open] = {}
        self._sums = dict.fromkeys(("training", "start", "waiting", "busy"), 0.0)
        self._most = 0
        self._idle_from: float | None = None
        self._before_first = 0.0
        self.errors: dict[str, str | None] = {}
        """Every trial that began -> why it failed, None unless it did."""

    def hear(self, event: Event) -> None:
        """Take an event in."""
        now, trial, over = self._clock(), event.trial, isinstance(event, _ENDS)
        self._advance(now)
        if isinstance(event, Begun) or trial not in self._open:
            self._open[trial] = _Open(now)
            self.errors[trial] = None
            self._most = max(self._most, len(self._open))
        line = self._open[trial]
        phase = line.phase if over else "waiting" if isinstance(event, Waiting) else "work"
        phase = "start" if isinstance(event, Begun) else phase
        if phase != line.phase or over:
            self._close(line, now)
            line.phase = phase
        if phase == "work" and self._idle_from is None:
            self._idle_from, self._before_first = now, self._sums["busy"]
        if isinstance(event, Started | Tick | Point):
            line.before = event.training_seconds if line.before is None else line.before
            self._sums["training"] += event.training_seconds - max(line.trained, line.before)
            line.trained = event.training_seconds
        if over:
            del self._open[trial]
        if isinstance(event, Failed):
            self.errors[trial] = event.message

    def listening(self, on_event: OnEvent) -> OnEvent:
        """`on_event` that is heard here too."""

        def hear(event: Event) -> bool | None:
            self.hear(event)
            return on_event(event)

        return hear

    def close(self) -> Spent:
        """What was spent until now."""
        now = self._clock()
        self._advance(now)
        for line in self._open.values():
            self._close(line, now)
        wall, sums = now - self._began, self._sums
        until_first = (self._idle_from if self._idle_from is not None else now) - self._began
        busy_before = self._before_first if self._idle_from is not None else sums["busy"]
        start = (
            sums["start"] + self._most * until_first - busy_before
        )  # slots whose first trial has not begun: the runner is starting
        waiting = sums["waiting"] + self._most * (wall - until_first) - (sums["busy"] - busy_before)
        evaluation = self._most * wall - sums["training"] - start - waiting
        return Spent(self._most, wall, sums["training"], max(0.0, evaluation), start, waiting)

    def _advance(self, now: float) -> None:
        self._sums["busy"] += len(self._open) * (now - self._last)
        self._last = now

    def _close(self, line: _Open, now: float) -> None:
        if line.phase in ("start", "waiting"):
            self._sums[line.phase] += now - line.begun
        line.begun = now


class AccountedRunner:
    """A runner whose time is accounted for, and noted in the folder of its study or search, however it ends."""

    def __init__(self, runner: Runner, folder: Path, clock: Callable[[], float] = time.monotonic):
        self._runner, self._folder, self._clock = runner, folder, clock
        self.spent: Spent | None = None
        """Of the last run."""

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`."""
        account, started = Account(self._clock), datetime.now(UTC).isoformat(timespec="seconds")
        try:
            return self._runner.run(jobs, slots, account.listening(on_event))
        finally:
            self.spent = account.close()
            with suppress(UserError):  # a full disk has been told already, by the trials
                add_session(
                    self._folder,
                    {
                        "started": started,
                        "unix_time": time.time(),
                        "seconds": asdict(self.spent),
                        "errors": account.errors,
                    },
                )


def add_session(folder: Path, session: dict) -> None:
    """Note one command's part in a study or search. Raises UserError."""
    with locked(folder / f".{SESSIONS_FILE}.lock"):
        write_json(folder / SESSIONS_FILE, {"format": FORMAT, "sessions": [*sessions(folder), session]})


def sessions(folder: Path) -> list[dict]:
    """What commands noted so far, the latest last; nothing of a damaged file, which is told. Raises InputError for one
    of another version."""
    try:
        tree = read_record(folder / SESSIONS_FILE, FORMAT, ("sessions",))
    except Damaged as damage:
        tell(damage, "what earlier commands took is not known; the next one that trains begins the file anew")
        tree = None
    return tree["sessions"] if tree else []


class Failure(NamedTuple):
    """Why a trial failed as its runner saw it, and when its command ended, in seconds since 1970."""

    error: str
    unix_time: float


def last_failures(folder: Path) -> dict[str, Failure]:
    """Trials that failed in the last command that ran them and was not killed: also where their processes died without
    a word."""
    last = {
        trial: (error, session["unix_time"])
        for session in sessions(folder)
        for trial, error in session["errors"].items()
    }
    return {trial: Failure(error, ended) for trial, (error, ended) in last.items() if error is not None}
