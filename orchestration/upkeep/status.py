"""`gonn status`: how the studies and searches of a workspace stand, from files alone: also while other commands, on any
machine, are at work."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

from rich import box
from rich.console import Console
from rich.table import Table

from ablations.search import Search, Tried
from ablations.study import Study
from gonn_core.errors import Damaged, InputError, printable
from gonn_core.evaluation.stored import whole_evaluations
from gonn_core.files.json_files import tell
from gonn_core.metrics import UNIFORM_NATS
from gonn_core.trial.directory import State, TrialDirectory
from gonn_core.trial.job import last_look
from gonn_core.trial.lease import live_holder
from orchestration.console import output
from orchestration.experiment.stopping import everything_at_work
from orchestration.progress import duration
from orchestration.search.optuna_rates import all_searches, tried_rates
from orchestration.study.folder import all_studies
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
    """Process and machine that run it; of one that failed, the file that has the traceback."""
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
        arms = {arm.id: arm for arm in study.arms}
        trials = []
        for trial in trials_due(study, self._workspace.runs, self._workspace.report_cache):
            arm = arms[trial.arm]
            trials.append(self._trial(trial.trial, f"{arm.label} s{trial.seed}", arm.config.training.samples))
        return ExperimentState(study.id, "study", tuple(trials))

    def search(self, search: Search) -> ExperimentState:
        """How a search stands; rates that it has yet to ask for are waiting."""
        trials, total = [], search.config.training.samples
        for tried in self._tried(search):
            label = f"rate {tried.rate:.4g}"
            if tried.state in ("pruned", "diverged"):
                trials.append(TrialState(tried.trial, label, "given up", total))
            else:
                trials.append(self._trial(tried.trial, label, total))
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

    def _trial(self, trial: str, label: str, total: int) -> TrialState:
        try:
            return self._state(trial, printable(label), total)
        except Damaged as damage:
            return TrialState(trial, printable(label), "damaged", total, error=str(damage))

    def _state(self, trial: str, label: str, total: int) -> TrialState:
        directory = TrialDirectory(self._workspace.runs / trial)
        _check(directory)
        state = directory.state()
        if state == "running":
            return self._running(directory, label, total)
        if state == "failed" and (failure := directory.failure()) is not None:
            where = f"runs/{trial}/failure.json" if failure["traceback"] else ""
            return TrialState(trial, label, "failed", total, where=where, error=failure["error"])
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
        age = max(0.0, self._clock() - (directory.path / "metrics.jsonl").stat().st_mtime)
        rate = last.get("samples_per_s")
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


def trials_once(experiments: Iterable[ExperimentState], state: str) -> list[tuple[ExperimentState, TrialState]]:
    """Trials in a state, the latest study first to name them: a control of several is in it once."""
    latest: dict[str, tuple[ExperimentState, TrialState]] = {}
    for experiment in reversed(list(experiments)):
        for trial in experiment.trials:
            if trial.state == state:
                latest.setdefault(trial.id, (experiment, trial))
    return list(latest.values())


def print_status() -> None:
    """Everything at once; the same on a terminal and in a pipe, where lines are not broken."""
    workspace, console = Workspace.here(), output()
    studies, searches = all_studies(workspace), all_searches(workspace)
    reader = Reader(workspace)
    experiments = [*map(reader.study, studies), *map(reader.search, searches)]
    others = reader.others(experiments)
    if experiments:
        console.print(_overview(experiments))
    else:
        console.print(f"no studies in {workspace.studies}; make ablation NAME=… runs one")
    if others:
        console.print(
            f"trials of no study or search: {', '.join(f'{count} {state}' for state, count in others.items())}"
        )
    running, failed = trials_once(experiments, "running"), trials_once(experiments, "failed")
    if running:
        console.print(_running([trial for _, trial in running]))
    for command in everything_at_work(workspace):
        console.print(f"at work: {command.description}")
    _print_failures(console, failed)
    for _, trial in trials_once(experiments, "damaged"):
        console.print(f"damaged: {trial.label}: {trial.error}; the same command makes it again", soft_wrap=True)


def _overview(experiments: list[ExperimentState]) -> Table:
    """A row per study and search; states that no trial is in have no column."""
    table = _table()
    in_use = {state for experiment in experiments for state, count in experiment.counts.items() if count}
    shown = [state for state in STATES if state == "done" or state in in_use]
    at_work = any(experiment.running for experiment in experiments)
    table.add_column("/".join(dict.fromkeys(experiment.kind for experiment in experiments)), overflow="fold")
    for name in [*shown, *(["samples/s", "ETA"] if at_work else [])]:
        table.add_column(name, justify="right", no_wrap=True)
    for experiment in experiments:
        counts = [str(experiment.counts[state] or "") for state in shown]
        counts[0] = f"{experiment.counts['done']}/{len(experiment.trials)}"
        left = duration(experiment.seconds_left) if experiment.running else ""
        table.add_row(experiment.id, *counts, *([_number(experiment.rate), left] if at_work else []))
    return table


def _running(trials: list[TrialState]) -> Table:
    """A row per trial at work."""
    table = _table()
    table.add_column("running", overflow="fold")
    for name in ("trial", "samples", "of", "per s", "ETA", "validation nats"):
        table.add_column(name, justify="left" if name == "trial" else "right", no_wrap=True)
    table.add_column("process", overflow="fold")
    for trial in trials:
        how_far = f"~{trial.samples:,}" if trial.doing == "training" else trial.doing
        left = (trial.total - trial.samples) / trial.rate if trial.rate else None
        nats = "" if trial.nats is None else f"{trial.nats:.3f}" if trial.nats < UNIFORM_NATS else "above uniform"
        table.add_row(
            trial.label,
            trial.id[:8],
            how_far,
            f"{trial.total:,}",
            _number(trial.rate),
            duration(left),
            nats,
            trial.where,
        )
    return table


def _print_failures(console: Console, failed: list[tuple[ExperimentState, TrialState]]) -> None:
    """Study by study, each trial with the last line of its error and where the rest of it is."""
    whole = not sys.stdout.isatty()
    for experiment in dict.fromkeys(experiment for experiment, _ in failed):
        console.print(f"failed in {experiment.id}", style="bold", soft_wrap=whole)
        for trial in [trial for owner, trial in failed if owner is experiment]:
            traceback = f"; traceback: {trial.where}" if trial.where else ""
            console.print(f"  {trial.label}: {trial.error}{traceback}", soft_wrap=whole)


def _table() -> Table:
    """With a line below the heading on a terminal, with nothing but words and spaces elsewhere."""
    return Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False, padding=(0, 1))


def _number(value: float | None) -> str:
    return f"{value:,.0f}" if value else ""
