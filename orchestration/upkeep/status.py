"""`gonn status`: studies and searches with their trials by state, what runs and how long it takes, what failed and
why."""

import sys

from rich import box
from rich.console import Console
from rich.table import Table

from gonn_core.metrics import UNIFORM_NATS
from orchestration.console import output
from orchestration.experiment.stopping import everything_at_work
from orchestration.progress import duration
from orchestration.search.folder import all_searches
from orchestration.study.folder import all_studies
from orchestration.upkeep.states import STATES, ExperimentState, Reader, TrialState, trials_once
from reports.workspace import Workspace


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
    _print_failures(console, workspace, failed)
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


def _print_failures(console: Console, workspace: Workspace, failed: list[tuple[ExperimentState, TrialState]]) -> None:
    """Study by study, each trial with the last line of its error and where the rest of it is."""
    whole = not sys.stdout.isatty()
    for experiment in dict.fromkeys(experiment for experiment, _ in failed):
        console.print(f"failed in {experiment.id}", style="bold", soft_wrap=whole)
        for trial in [trial for owner, trial in failed if owner is experiment]:
            has_traceback = (workspace.runs / trial.id / "failure.json").exists()
            traceback = f"; traceback: runs/{trial.id}/failure.json" if has_traceback else ""
            console.print(f"  {trial.label}: {trial.error}{traceback}", soft_wrap=whole)


def _table() -> Table:
    """With a line below the heading on a terminal, with nothing but words and spaces elsewhere."""
    return Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False, padding=(0, 1))


def _number(value: float | None) -> str:
    return f"{value:,.0f}" if value else ""
