"""How the studies and searches of a workspace stand, from files alone: true also while other commands, on any machine,
are at work."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean

from ablations.search import Search, Tried
from ablations.study import Study
from gonn_core.errors import Damaged, InputError, printable
from gonn_core.evaluation.stored import whole_evaluations
from gonn_core.files.told import tell
from gonn_core.trial.directory import State, TrialDirectory
from gonn_core.trial.job import last_look
from gonn_core.trial.lease import live_holder
from orchestration.experiment.accounting import Failure, last_failures
from orchestration.search.folder import search_folder, tried_rates
from orchestration.study.folder import study_folder
from reports.results.decisions import trials_due
from reports.workspace import Workspace

STATES = ("done", "given up", "running", "waiting", "paused", "failed", "damaged")
"""Of a trial. waiting: not begun; paused: can go on from a checkpoint; given up: by a search, before its end or because
it diverged; damaged: one of its files is not what was written, and the same command makes it again."""


@dataclass(frozen=True)
class TrialState:
    """One trial now."""

    id: str
    label: str
    state: str
    total: int
    samples: int = 0
    """While it runs: as of its last line of metrics, and from there on at the rate it had."""
    rate: float | None = None
    """Samples per second, of one that runs."""
    nats: float | None = None
    where: str = ""
    """Who runs it: process and machine."""
    doing: str = ""
    """starting, training or evaluating, of one that runs."""
    error: str = ""
    """Why it failed, in one line."""


@dataclass(frozen=True, eq=False)
class ExperimentState:
    """A study or a search now."""

    id: str
    kind: str
    trials: tuple[TrialState, ...]

    @cached_property
    def counts(self) -> Counter:
        """Trials by state."""
        return Counter(trial.state for trial in self.trials)

    @property
    def running(self) -> list[TrialState]:
        """Trials at work."""
        return [trial for trial in self.trials if trial.state == "running"]

    @property
    def rate(self) -> float | None:
        """Samples per second of all that train; None when nothing does, or nothing is known yet."""
        return sum(trial.rate for trial in self.running if trial.rate and trial.doing != "evaluating") or None

    @property
    def seconds_left(self) -> float | None:
        """Of training, at the mean rate of the trials at work and as many of them; None when that is not known."""
        rates = [trial.rate for trial in self.running if trial.rate]
        if not rates:
            return None
        left = sum(
            trial.total - trial.samples for trial in self.trials if trial.state in ("running", "waiting", "paused")
        )
        return left / (mean(rates) * len(self.running))


class Reader:
    """Reads the trials of one workspace. `clock`: seconds since 1970."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.time):
        self._workspace, self._clock = workspace, clock

    def study(self, study: Study) -> ExperimentState:
        """How a study stands, in the trials that it needs so far."""
        folder = study_folder(self._workspace, study.id)
        failures = last_failures(folder)
        arms = {arm.id: arm for arm in study.arms}
        trials = []
        for each in trials_due(study, self._workspace.runs, self._workspace.report_cache):
            arm = arms[each.arm]
            trials.append(self._trial(each.trial, f"{arm.label} s{each.seed}", arm.config.training.samples, failures))
        return ExperimentState(study.id, "study", tuple(trials))

    def search(self, search: Search) -> ExperimentState:
        """How a search stands; rates that it has yet to ask for are waiting."""
        failures, total = last_failures(search_folder(self._workspace, search.id)), search.config.training.samples
        trials = []
        for tried in self._tried(search):
            label = f"rate {tried.rate:.4g}"
            if tried.state in ("pruned", "diverged"):
                trials.append(TrialState(tried.trial, label, "given up", total))
            else:
                trials.append(self._trial(tried.trial, label, total, failures))
        to_come = search.trials - sum(trial.state != "failed" for trial in trials)  # failed ones are made up for
        trials += [TrialState("", "", "waiting", total) for _ in range(to_come)]
        return ExperimentState(search.id, "search", tuple(trials))

    def _tried(self, search: Search) -> list[Tried]:
        try:
            return tried_rates(self._workspace, search)
        except Damaged as damage:
            tell(damage, "the rates that it asked for are not known")
            return []

    def others(self, experiments: Iterable[ExperimentState]) -> Counter:
        """Trials that no study and no search names, such as those brought from elsewhere, by the state of their
        directories."""
        named = {trial.id for experiment in experiments for trial in experiment.trials}
        folders = (path.parent for path in self._workspace.runs.glob("*/config.json"))
        states = Counter(TrialDirectory(folder).state() for folder in folders if folder.name not in named)
        shown: tuple[State, ...] = ("done", "running", "paused", "failed", "damaged")
        return Counter({state: states[state] for state in shown if states[state]})

    def _trial(self, trial: str, label: str, total: int, failures: dict[str, Failure]) -> TrialState:
        try:
            return self._as_it_stands(trial, printable(label), total, failures)
        except Damaged as damage:
            return TrialState(trial, printable(label), "damaged", total, error=str(damage))

    def _as_it_stands(self, trial: str, label: str, total: int, failures: dict[str, Failure]) -> TrialState:
        directory = TrialDirectory(self._workspace.runs / trial)
        _check(directory)
        state = directory.state()
        if state == "running":
            return self._running(directory, label, total)
        recorded = directory.failure() if state == "failed" else None
        if recorded is not None:
            return TrialState(trial, label, "failed", total, error=recorded["error"])
        failure = failures.get(trial)
        if failure and state in ("paused", "new") and _written(directory.path / "config.json") < failure.unix_time:
            # Its process died, or it met what leaves no traceback; and no session was begun since.
            return TrialState(trial, label, "failed", total, error=printable(failure.error, 500))
        if state == "paused":
            lines = directory.metrics()
            return TrialState(trial, label, "paused", total, lines[-1]["samples"] if lines else 0)
        return TrialState(trial, label, {"new": "waiting"}.get(state, state), total, total if state == "done" else 0)

    def _running(self, directory: TrialDirectory, label: str, total: int) -> TrialState:
        holder, lines = live_holder(directory.path), directory.metrics()
        where = f"{holder.process.pid} on {printable(holder.process.host, 40)}" if holder else ""
        if not lines:
            return TrialState(directory.path.name, label, "running", total, where=where, doing="starting")
        last = lines[-1]
        rate, age = last.get("samples_per_s"), max(0.0, self._clock() - _written(directory.path / "metrics.jsonl"))
        samples = min(total, last["samples"] + round((rate or 0.0) * age))
        doing = "evaluating" if last["samples"] >= total else "training"
        return TrialState(directory.path.name, label, "running", total, samples, rate, last_look(lines), where, doing)


def _check(directory: TrialDirectory) -> None:
    """Raises Damaged for a trial of which a file is; its weights are not looked at."""
    try:
        directory.config()
        if (result := directory.result()) is not None:
            directory.check_course(directory.metrics(), result)
        for damage in whole_evaluations(directory.path)[1]:
            raise damage
    except Damaged:
        raise
    except InputError:
        return  # of another version


def _written(path: Path) -> float:
    """When a file was last written, in seconds since 1970; 0 when it is not there."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def trials_once(experiments: Iterable[ExperimentState], state: str) -> list[tuple[ExperimentState, TrialState]]:
    """Trials in a state, the latest study first to name them: a control of several is in it once."""
    latest: dict[str, tuple[ExperimentState, TrialState]] = {}
    for experiment in reversed(list(experiments)):
        for trial in experiment.trials:
            if trial.state == state:
                latest.setdefault(trial.id, (experiment, trial))
    return list(latest.values())
