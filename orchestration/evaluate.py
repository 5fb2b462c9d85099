"""`gonn evaluate`: more evaluations of trained trials, without training."""

from pathlib import Path

from rich import box
from rich.table import Table

from ablations.dataset import load_dataset
from ablations.registry import load_registry
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import EvaluationRequest
from orchestration.console import notes, output
from orchestration.games import prepare_shown
from orchestration.planning import data_folder, jobs_of, run_settings
from orchestration.study_folder import find_study
from orchestration.workspace import Workspace


def evaluate_study(study: str, split: str, history: str, positions: int | None, data_dir: Path | None, device: str) -> int:
    """Evaluate the finished trials of a study on a split of its data and print a line for each."""
    from gonn_core.trial.run import run_trial

    workspace, aside = Workspace.here(), notes()
    found = find_study(workspace, study)
    budget = load_registry().budget(found.budget)
    prepared = prepare_shown(load_dataset(found.data, data_folder(data_dir)), workspace)
    view = prepared.views[split]
    wanted = positions or budget.evaluation_positions
    request = EvaluationRequest(split=split, view=view.digest, minimum_positions=view.n if wanted == "all" else min(wanted, view.n), history=history)
    table = Table("arm", "seed", "nats", "top-1", "top-4", "positions", "games", "trial", box=box.SIMPLE_HEAD, pad_edge=False)
    waiting = 0
    for trial, job in zip(found.trials, jobs_of(found, run_settings(workspace, prepared, (request,), (), device))):
        if TrialDirectory(workspace.runs / job.id).result() is None:
            waiting += 1
            continue
        aside.print(f"{found.arm(trial.arm).label} s{trial.seed}")
        summary = run_trial(job)["evaluations"][0]
        shares = (f"{100 * summary[name]:.2f} %" for name in ("top1", "top4"))
        table.add_row(found.arm(trial.arm).label, str(trial.seed), f"{summary['nats']:.4f}", *shares, f"{summary['positions']:,}", f"{summary['games']:,}", trial.trial)
    output().print(table)
    if waiting:
        output().print(f"{waiting} of {len(found.trials)} trials are not trained yet: gonn status")
    return 0
