"""Runs the trials of a study or a search: hands jobs to the runner, dispatches events, writes the report, records the
experiment in MLflow.

An experiment is all that was decided before the first trial. A study knows its trials beforehand; a search asks for
each as a slot comes free, and may give it up. All else is the same.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from rich.console import Console

from gonn_core.errors import UserError, printable
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import Begun, Event, Failed, Finished, Mended, Paused, Point, Retried, Started, Tick
from gonn_core.trial.job import Job
from gonn_core.trial.lease import Lease, LeaseLost
from gonn_core.trial.mending import whole_result
from orchestration.console import moving, notes, output
from orchestration.experiment.stopping import StoppableRunner
from orchestration.progress import duration
from orchestration.runners.base import RUN_TRIAL, JobSource, OnEvent, Outcome, Runner
from orchestration.runners.choose import make_runner
from orchestration.tracking.records import StudyInfo, StudyReport
from reports.workspace import Workspace

if TYPE_CHECKING:
    from orchestration.tracking.tracker import Tracker

Say = Callable[[str], object]


@dataclass(frozen=True)
class Execution:
    """How a command runs its trials, as its options say."""

    workspace: Workspace
    runner: Runner
    slots: int | None = None
    """Trials at a time; None: as many as the machine is good for."""
    tracker: "Tracker | None" = None
    """None: MLflow is told nothing."""


def execution(
    runner: str,
    slots: int | None,
    track: bool,
    address: str | None = None,
    function: str = RUN_TRIAL,
    per_gpu: int | None = None,
) -> Execution:
    """What the options --runner, --slots, --track, --address and --per-gpu ask for; function: what is called with each
    job.

    Raises SettingError (RUNNER, RAY_ADDRESS, MLFLOW_TRACKING_URI).
    """
    workspace, chosen, tracker = Workspace.here(), make_runner(runner, address, function, per_gpu), None
    if track:
        from orchestration.tracking.tracker import Tracker

        tracker = Tracker(workspace.root, workspace.runs, notes().print)
    return Execution(workspace, chosen, slots, tracker)


class WrittenReport(Protocol):
    """A report that was written to out/."""

    @property
    def tracked(self) -> StudyReport:
        """What MLflow shows of it."""
        ...

    def show(self, console: Console) -> None:
        """Print it, and where the rest is."""
        ...


R = TypeVar("R", bound=WrittenReport)
R_co = TypeVar("R_co", bound=WrittenReport, covariant=True)


class Experiment(Protocol[R_co]):
    """What was decided before the first trial, and where it stands."""

    @property
    def id(self) -> str: ...

    @property
    def folder(self) -> Path:
        """Where it was written down."""
        ...

    @property
    def size(self) -> int:
        """The most trials that can run at a time."""
        ...

    def opened(self) -> AbstractContextManager:
        """Entered before anything below is asked for; waits for another command where one at a time may run it."""
        ...

    def summary(self) -> str:
        """One line: what it is, how much of it is done, on what data."""
        ...

    def prepare(self, say: Say) -> bool:
        """What must be done before workers start; whether there is any trial to run."""
        ...

    def jobs(self, grown: Callable[[], object]) -> JobSource:
        """Its trials that are not done, asked for one by one; None where none is due yet. `grown` is called when `info`
        has more trials than it had."""
        ...

    def display(self) -> AbstractContextManager[OnEvent]:
        """Who hears the events, and may have a trial pause."""
        ...

    def info(self) -> StudyInfo:
        """It and its trials as MLflow shows them."""
        ...

    def report(self) -> R_co:
        """Write its report, as it stands."""
        ...

    def failures(self, outcomes: list[Outcome]) -> Iterator[str]:
        """What is said of trials that failed."""
        ...


class Result(NamedTuple, Generic[R]):
    """What came of an experiment."""

    report: R
    outcomes: list[Outcome]
    """Of the trials that ran."""

    @property
    def failed(self) -> bool:
        """Whether any trial did."""
        return any(outcome.state == "failed" for outcome in self.outcomes)


def carry_out(experiment: Experiment[R], how: Execution, show: bool = True) -> Result[R]:
    """Bring an experiment to its end, or as far as its failures let it come; write its report, and show it.

    Raises KeyboardInterrupt, or Stopped when asked to stop: the next call goes on from there.
    """
    aside, tracker = notes(), how.tracker
    outcomes: list[Outcome] = []
    with experiment.opened():
        aside.print(experiment.summary())
        runner, times = StoppableRunner(how.runner, how.workspace, experiment.id), SlotTime()
        unfinished = experiment.prepare(aside.print)
        follow = (lambda: tracker.follow(experiment.info())) if tracker else (lambda: None)
        follow()
        if unfinished:
            slots = min(how.slots, experiment.size) if how.slots else None
            with experiment.display() as display, tracker.following() if tracker else nullcontext():

                def hear(event: Event) -> bool | None:
                    times.hear(event)
                    if isinstance(event, Failed):
                        record_failure(TrialDirectory(how.workspace.runs / event.trial), event.message)
                    return display(event)

                outcomes = runner.run(experiment.jobs(follow), slots, hear)
        info = experiment.info()
    with moving("writing the report"):
        report = experiment.report()
    if tracker:
        with moving("telling MLflow"):
            tracker.finish(info, report.tracked)
    if show:
        report.show(output())
    if times.slots:
        aside.print(times.line)
    for line in experiment.failures(outcomes):
        print(line, file=sys.stderr)
    return Result(report, outcomes)


def record_failure(directory: TrialDirectory, error: str) -> None:
    """Write failure.json for a trial that could not do so itself, such as one whose process was killed. Leaves a trial
    alone that wrote its own, is done, or is held by another process."""
    try:
        if directory.state() in ("new", "paused"):
            directory.create()
            with Lease.take(directory.path) as lease:
                directory.write_failure(error, "", lease)
    except (UserError, OSError, LeaseLost):
        return  # the disk is full, or another command has begun the trial: the runner reports the error in any case


def is_complete(job: Job) -> bool:
    """Whether a job's trial is done and has all evaluations that the job asks for, nothing of it damaged."""
    from gonn_core.trial.evaluations import find_evaluation

    directory = TrialDirectory(Path(job.run.runs) / job.id)
    return whole_result(directory) is not None and None not in [
        find_evaluation(directory, job, request) for request in job.run.evaluations
    ]


J = TypeVar("J", bound=Job)


def run_missing(
    jobs: Sequence[J],
    how: Execution,
    what: str,
    lines: Mapping[str, str],
    is_done: Callable[[J], bool] = is_complete,
) -> set[str]:
    """Run jobs of trials that are trained already, side by side, unless they are done.

    what: whose trials they are, for `gonn stop`; lines: trial id -> what is said when it begins. Ids of those that
    failed, after their errors were told. Raises Stopped.
    """
    missing, unsaid = [], dict(lines)
    for job in jobs:
        if is_done(job):
            notes().print(unsaid.pop(job.id))
        else:
            missing.append(job)

    def hear(event: Event) -> None:
        if isinstance(event, Begun) and event.trial in unsaid:
            notes().print(unsaid.pop(event.trial))
        elif isinstance(event, Mended):
            notes().print(f"{event.trial}: {printable(event.message, 1000)}", soft_wrap=True)

    outcomes = StoppableRunner(how.runner, how.workspace, what).run(missing, how.slots, hear) if missing else []
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    for outcome in failed:
        print(f"trial {outcome.trial} failed: {outcome.error}", file=sys.stderr)
        if outcome.traceback:
            print(outcome.traceback, file=sys.stderr)
    return {outcome.trial for outcome in failed}


class SlotTime:
    """Adds up training seconds from now on; `line` is what a command prints at its end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._began = clock, clock()
        self._running: dict[str, float | None] = {}
        """Trial -> training seconds that its last event reported, earlier sessions included; None before the first."""
        self.slots = 0
        """The most trials that ran at a time."""
        self.training = 0.0
        """Seconds in training steps, summed over the slots."""

    def hear(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, Finished | Failed | Paused | Retried):
            self._running.pop(event.trial, None)
            return
        before = self._running.setdefault(event.trial, None)
        self.slots = max(self.slots, len(self._running))
        if isinstance(event, Started | Tick | Point):
            if before is not None:
                self.training += event.training_seconds - before
            self._running[event.trial] = event.training_seconds

    @property
    def line(self) -> str:
        """One line for a terminal."""
        wall = self._clock() - self._began
        total = self.slots * wall
        share = 100 * self.training / total if total else 0.0
        slots = f"{self.slots} slot{'s' * (self.slots != 1)}"
        return f"time: {slots} x {duration(wall)}, {share:.1f} % of it in training steps"
