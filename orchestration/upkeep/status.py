"""`gonn status`: the studies and searches of a workspace, from files alone: also while other commands, on any machine,
are at work."""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

from rich import box
from rich.table import Table

from ablations.search import Search
from ablations.study import Study
from gonn_core.errors import Damaged, InputError, printable
from gonn_core.evaluation.stored import whole_evaluations
from gonn_core.files.json_files import tell
from gonn_core.metrics import UNIFORM_NATS
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import last_look
from gonn_core.trial.lease import live_holder
from orchestration.console import duration, output
from orchestration.experiment.stopping import everything_at_work
from orchestration.search.optuna_rates import all_searches, tried_rates
from orchestration.study.folder import all_studies
from reports.results.decisions import trials_due
from reports.workspace import Workspace

STATES = ("done", "given up", "running", "waiting", "paused", "failed", "damaged")
"""Of a trial. waiting: not begun; paused: resumes from a checkpoint; given up: by a search, before its end or because
it diverged; damaged: one of its files is not what was written, and the same command makes it again."""


@dataclass(frozen=True)
class TrialState:
    """One trial now."""

    id: str
    label: str
    state: str
    total: int
    samples: int = 0
    """As of the last line of metrics."""
    rate: float | None = None
    """Samples per second, of one that runs."""
    nats: float | None = None
    where: str = ""
    """Process and machine that run it; of one that failed, the file that has the traceback."""
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
    def rate(self) -> float | None:
        """Samples per second of all that train; None when nothing does, or nothing is known yet."""
        return sum(trial.rate or 0.0 for trial in self.trials if trial.samples < trial.total) or None

    @property
    def seconds_left(self) -> float | None:
        """Of training, at the mean rate of the trials at work and as many of them; None when that is not known."""
        rates = [trial.rate for trial in self.trials if trial.rate]
        left = sum(
            trial.total - trial.samples for trial in self.trials if trial.state in ("running", "waiting", "paused")
        )
        return left / (mean(rates) * self.counts["running"]) if rates else None


def study_state(workspace: Workspace, study: Study) -> ExperimentState:
    """A study by the trials that it needs so far."""
    arms = {arm.id: arm for arm in study.arms}
    trials = []
    for trial in trials_due(study, workspace.runs, workspace.report_cache):
        arm = arms[trial.arm]
        label = f"{arm.label} s{trial.seed}"
        trials.append(_trial(workspace, trial.trial, label, arm.config.training.samples))
    return ExperimentState(study.id, "study", tuple(trials))


def search_state(workspace: Workspace, search: Search) -> ExperimentState:
    """A search; rates that it has yet to ask for are waiting."""
    total = search.config.training.samples
    try:
        rates = tried_rates(workspace, search)
    except Damaged as damage:
        tell(damage, "the rates that it asked for are not known")
        rates = []
    trials = [
        TrialState(tried.trial, f"rate {tried.rate:.4g}", "given up", total)
        if tried.state in ("pruned", "diverged")
        else _trial(workspace, tried.trial, f"rate {tried.rate:.4g}", total)
        for tried in rates
    ]
    to_come = search.trials - sum(trial.state != "failed" for trial in trials)  # failed ones are replaced
    return ExperimentState(search.id, "search", (*trials, *(TrialState("", "", "waiting", total),) * to_come))


def _trial(workspace: Workspace, trial: str, label: str, total: int) -> TrialState:
    directory, label = TrialDirectory(workspace.runs / trial), printable(label)
    try:
        _check(directory)
        state = directory.state()
        if state == "failed" and (failure := directory.failure()) is not None:
            where = f"runs/{trial}/failure.json" if failure["traceback"] else ""
            return TrialState(trial, label, "failed", total, where=where, error=failure["error"])
        if state in ("running", "paused"):
            lines = directory.metrics()
            samples = lines[-1]["samples"] if lines else 0
            if state == "paused":
                return TrialState(trial, label, state, total, samples)
            holder, rate = live_holder(directory.path), lines[-1].get("samples_per_s") if lines else None
            where = f"{holder.process.pid} on {printable(holder.process.host, 40)}" if holder else ""
            return TrialState(trial, label, state, total, samples, rate, last_look(lines) if lines else None, where)
        return TrialState(trial, label, {"new": "waiting"}.get(state, state), total, total if state == "done" else 0)
    except Damaged as damage:
        return TrialState(trial, label, "damaged", total, error=str(damage))


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
    experiments = [study_state(workspace, study) for study in all_studies(workspace)]
    experiments += [search_state(workspace, search) for search in all_searches(workspace)]
    if experiments:
        console.print(_overview(experiments))
    else:
        console.print(f"no studies in {workspace.studies}; make ablation NAME=… runs one")
    if running := trials_once(experiments, "running"):
        console.print(_running([trial for _, trial in running]))
    for command in everything_at_work(workspace):
        console.print(f"at work: {command.description}")
    whole, failed = not sys.stdout.isatty(), trials_once(experiments, "failed")
    for experiment in dict.fromkeys(experiment for experiment, _ in failed):
        console.print(f"failed in {experiment.id}", style="bold", soft_wrap=whole)
        for trial in [trial for owner, trial in failed if owner is experiment]:
            traceback = f"; traceback: {trial.where}" if trial.where else ""
            console.print(f"  {trial.label}: {trial.error}{traceback}", soft_wrap=whole)
    for _, trial in trials_once(experiments, "damaged"):
        console.print(f"damaged: {trial.label}: {trial.error}; the same command makes it again", soft_wrap=True)


def _overview(experiments: list[ExperimentState]) -> Table:
    """A row per study and search; states that no trial is in have no column."""
    table = _table()
    in_use = {state for experiment in experiments for state, count in experiment.counts.items() if count}
    shown = [state for state in STATES if state == "done" or state in in_use]
    at_work = ["samples/s", "ETA"] if "running" in in_use else []
    table.add_column("/".join(dict.fromkeys(experiment.kind for experiment in experiments)), overflow="fold")
    for name in [*shown, *at_work]:
        table.add_column(name, justify="right", no_wrap=True)
    for experiment in experiments:
        counts = [str(experiment.counts[state] or "") for state in shown]
        counts[0] = f"{experiment.counts['done']}/{len(experiment.trials)}"
        left = duration(experiment.seconds_left) if experiment.counts["running"] else ""
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
        samples = "evaluating" if trial.samples >= trial.total else f"{trial.samples:,}"
        left = duration((trial.total - trial.samples) / trial.rate if trial.rate else None)
        nats = "" if trial.nats is None else f"{trial.nats:.3f}" if trial.nats < UNIFORM_NATS else "above uniform"
        total, rate = f"{trial.total:,}", _number(trial.rate)
        table.add_row(trial.label, trial.id[:8], samples, total, rate, left, nats, trial.where)
    return table


def _table() -> Table:
    """With a line below the heading on a terminal, with nothing but words and spaces elsewhere."""
    return Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False, padding=(0, 1))


def _number(value: float | None) -> str:
    return f"{value:,.0f}" if value else ""
