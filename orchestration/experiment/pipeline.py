"""Runs the trials of a study or a search: hands jobs to the runner, dispatches events, writes the report, records the
experiment in MLflow.

An experiment is all that was decided before the first trial. A study knows its trials beforehand; a search asks for
each as a slot comes free, and may give it up. All else is the same.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from rich.console import Console

from gonn_core.errors import SettingError, UserError, printable
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import Begun, Event, Failed, Mended
from gonn_core.trial.job import Job
from gonn_core.trial.lease import Lease, LeaseLost
from gonn_core.trial.mending import whole_result
from orchestration.console import moving, notes, output
from orchestration.experiment.progress import StudyDisplay
from orchestration.experiment.stopping import run_stoppably
from orchestration.runners.base import RUN_TRIAL, JobSource, OnEvent, Runner, TrialOutcome
from orchestration.runners.local import LocalRunner
from orchestration.runners.ray_runner import ADDRESS, RayRunner
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
    """None: nothing is logged to MLflow."""


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


def make_runner(name: str, address: str | None = None, function: str = RUN_TRIAL, per_gpu: int | None = None) -> Runner:
    """The runner `ray` or `local`, the former on the cluster at `address` or $RAY_ADDRESS if there is one.

    function: importable path of what workers call with a job. per_gpu: trials on each GPU (see `places`). Raises
    SettingError (RUNNER, RAY_ADDRESS).
    """
    if name == "local":
        if address:
            raise SettingError(ADDRESS, address, "RUNNER=local uses no cluster", "RUNNER=ray, or no address")
        return LocalRunner(function, per_gpu)
    address = address or os.environ.get(ADDRESS) or None
    if address and ("://" in address or address == "local"):
        raise SettingError(ADDRESS, address, "the command must run on a node of the cluster", "HOST:PORT, or auto")
    return RayRunner(address, function, per_gpu)


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
    """What was decided before the first trial, and its state."""

    @property
    def id(self) -> str: ...

    @property
    def size(self) -> int:
        """The most trials that can run at a time."""
        ...

    def opened(self) -> AbstractContextManager:
        """Entered before anything below is called; waits for another command where one at a time may run it."""
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
        """What receives the events, and may have a trial pause."""
        ...

    def info(self) -> StudyInfo:
        """It and its trials as MLflow shows them."""
        ...

    def report(self) -> R_co:
        """Write its report, as it is now."""
        ...

    def failures(self, outcomes: list[TrialOutcome]) -> Iterator[str]:
        """A line or a traceback for trials that failed."""
        ...


class Result(NamedTuple, Generic[R]):
    """What came of an experiment."""

    report: R
    outcomes: list[TrialOutcome]
    """Of the trials that ran."""

    @property
    def failed(self) -> bool:
        """Whether any trial did."""
        return any(outcome.state == "failed" for outcome in self.outcomes)


def carry_out(experiment: Experiment[R], how: Execution, show: bool = True) -> Result[R]:
    """Bring an experiment to its end, or as far as its failures let it come; write its report, and show it.

    Raises KeyboardInterrupt, or Stopped when asked to stop: the next call resumes.
    """
    aside, tracker = notes(), how.tracker
    outcomes: list[TrialOutcome] = []
    with experiment.opened():
        aside.print(experiment.summary())
        unfinished = experiment.prepare(aside.print)
        follow = (lambda: tracker.follow(experiment.info())) if tracker else (lambda: None)
        follow()
        if unfinished:
            slots = min(how.slots, experiment.size) if how.slots else None
            with experiment.display() as display, tracker.following() if tracker else nullcontext():

                def hear(event: Event) -> bool | None:
                    if isinstance(event, Failed):
                        record_failure(TrialDirectory(how.workspace.runs / event.trial), event.message)
                    return display(event)

                jobs = experiment.jobs(follow)
                outcomes = run_stoppably(how.runner, how.workspace, experiment.id, jobs, slots, hear)
        info = experiment.info()
    with moving("writing the report"):
        report = experiment.report()
    if tracker:
        with moving("logging to MLflow"):
            tracker.finish(info, report.tracked)
    if show:
        report.show(output())
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
    totals: Mapping[str, int] | None = None,
) -> set[str]:
    """Run jobs side by side, unless they are done.

    what: whose trials they are, for `gonn stop`; lines: trial id -> what is printed when it begins, or with `totals`,
    trial id -> samples, what its progress is called. Ids of those that failed, after their errors were printed. Raises
    Stopped.
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

    outcomes = []
    if missing:
        with StudyDisplay(unsaid, totals) if totals else nullcontext(hear) as events:
            outcomes = run_stoppably(how.runner, how.workspace, what, missing, how.slots, events)
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    for outcome in failed:
        print(f"trial {outcome.trial} failed: {outcome.error}", file=sys.stderr)
        if outcome.traceback:
            print(outcome.traceback, file=sys.stderr)
    return {outcome.trial for outcome in failed}
