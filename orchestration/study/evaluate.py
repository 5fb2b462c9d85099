"""`gonn evaluate`: more evaluations of trained trials, without training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from ablations.registry import load_registry
from ablations.request import Device
from ablations.study import Study
from gonn_core.errors import UserError
from gonn_core.evaluation.stored import Evaluation, load_evaluations
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import EvaluationRequest, Job, RunSettings
from orchestration.console import output
from orchestration.experiment.pipeline import execution, run_missing
from orchestration.experiment.settings import check_device, commit_and_dirty, evaluated_positions
from orchestration.study.folder import count_look, find_study
from orchestration.study.plan import jobs_of
from reports.workspace import Workspace


def evaluate_study(
    study: str,
    split: str,
    history: str,
    positions: int | None,
    symmetry_averaging: bool,
    legal_only: bool,
    device: Device,
    runner: str,
    slots: int | None,
    per_gpu: int | None,
    address: str | None,
) -> int:
    """Evaluate the finished trials of a study on a split of the very games that it was planned on; prints a line for
    each. 1 when some could not be evaluated.

    symmetry_averaging, legal_only: read their policies so even where their configurations do not.
    """
    from gonn_core.trial.data import TrialData

    workspace = Workspace.here()
    chosen = find_study(workspace, study)
    check_device(device)
    how = execution(runner, slots, track=False, address=address, per_gpu=per_gpu)
    done = [trial.trial for trial in chosen.trials if TrialDirectory(workspace.runs / trial.trial).state() == "done"]
    if not done:
        of_them = f"none of its {len(chosen.trials)} trials is done yet"
        raise UserError(f"study {chosen.id}: {of_them}; gonn status shows them")
    config = TrialDirectory(workspace.runs / done[0]).config()
    assert config is not None, "a trial that is done has its config.json"
    run = config["run"]
    store = workspace.stores / Path(run["store"]).name
    view = TrialData(store).view(run["progress_view"] if split == "validation" else chosen.evaluations[0].view)
    count = evaluated_positions(view, positions or load_registry().budget(chosen.budget).evaluation_positions)
    reading = {"history": history, "symmetry_averaging": symmetry_averaging, "legal_only": legal_only}
    tree: dict[str, Any] = {"split": split, "view": view.digest, "minimum_positions": count, **reading}
    commit, dirty = commit_and_dirty()
    settings = RunSettings(
        runs=str(workspace.runs), store=str(store), device=device, evaluations=(EvaluationRequest(**tree),),
        commit=commit, dirty=dirty,
    )  # fmt: skip
    jobs = [job for job in jobs_of(chosen, settings) if job.id in done]
    labels = {trial.trial: f"{chosen.arm(trial.arm).label} s{trial.seed}" for trial in chosen.trials}
    failed = run_missing(jobs, how, chosen.id, {job.id: f"evaluating {labels[job.id]}" for job in jobs})
    evaluations = {job.id: _evaluation(job) for job in jobs if job.id not in failed}
    if split == "test":
        count_look(workspace, chosen, list(evaluations), "evaluate")
    output().print(_table(chosen, evaluations))
    if len(done) < len(chosen.trials):
        left = len(chosen.trials) - len(done)
        output().print(f"{left} of {len(chosen.trials)} trials are not done yet; gonn status shows them")
    return 1 if failed else 0


def _evaluation(job: Job) -> Evaluation:
    """The evaluation that a job asks for, of a trial that has it."""
    from gonn_core.trial.evaluations import find_evaluation

    directory = TrialDirectory(Path(job.run.runs) / job.id)
    summary = find_evaluation(directory, job, job.run.evaluations[0])
    assert summary is not None, "its job has just been done"
    return next(each for each in load_evaluations(directory.path) if each.summary["id"] == summary["id"])


def _table(study: Study, evaluations: Mapping[str, Evaluation]) -> Table:
    """A row per trial, in the study's order."""
    headings = ("arm", "seed", "nats", "top-1", "top-4", "positions", "games", "trial")
    table = Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)
    for trial in study.trials:
        if trial.trial not in evaluations:
            continue
        summary = evaluations[trial.trial].summary
        table.add_row(
            study.arm(trial.arm).label,
            str(trial.seed),
            f"{summary['nats']:.4f}",
            *(f"{100 * summary[name]:.2f} %" for name in ("top1", "top4")),
            f"{summary['positions']:,}",
            f"{summary['games']:,}",
            trial.trial,
        )
    return table
