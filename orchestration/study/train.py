"""`gonn train`: one trial of a base net, as a study of one arm and one seed; or its job file for another machine.
`gonn export`: the weights of a trained net as a file."""

from dataclasses import replace
from pathlib import Path

from ablations.data.datasets import recipe_of
from ablations.request import Request
from ablations.resolve import Design, resolve_study
from gonn_core.config import TrialConfig
from gonn_core.errors import InputError, SettingError, printable
from gonn_core.files.json_files import write_json
from gonn_core.settings.data import GamesConfig
from gonn_core.trial.job import Job
from orchestration.console import output
from orchestration.experiment.pipeline import execution
from orchestration.study.folder import find_trial
from orchestration.study.plan import Plan, make_plan
from orchestration.study.run import run_studies
from reports.workspace import Workspace

_START = "training.start_from"


def _start(start: str, config: TrialConfig, workspace: Workspace, runs: Path) -> str:
    """Digest of the weights of a trial or a file, which are put where trials in `runs` find them."""
    from gonn_core.trial.weights import check_weights, keep_start, load_net, read_weights

    path = Path(start)
    if path.suffix == ".safetensors" or path.is_file():
        state = read_weights(path)
    else:
        path = find_trial(workspace, start, "--from")
        state = load_net(path)[0].state_dict()
    check_weights(state, config, path)
    return keep_start(state, runs)


def trial_design(
    workspace: Workspace, base: str, seed: int, start: str | None = None, job: Path | None = None, **settings
) -> Design:
    """A design of one arm and one seed: a base with settings changed (`values`), started from the weights of a trial of
    the workspace or of a file. job: where its job is to be written, None: it runs here; settings: further ones of a
    `Request`. Raises UserError."""
    request = Request(base=base, seeds=f"{seed},", **settings)
    design = resolve_study(request)
    if job is not None and design.config.data.games != GamesConfig():
        games = design.config.data.games.model_dump(exclude_defaults=True)
        problem = "a job file names a data set's own views"
        raise SettingError("--set data.games", games, problem, "no --job, or no filter")
    if start is None:
        return design
    runs = workspace.runs if job is None else job.absolute().parent / "runs"
    digest = _start(start, design.config, workspace, runs)
    return resolve_study(replace(request, values=(*request.values, f"{_START}={digest}")))


def train_base(track: bool, job: Path | None = None, **settings) -> int:
    """Train one trial and show its results; or write its job file. settings: of `trial_design`. Raises UserError."""
    workspace = Workspace.here()
    design = trial_design(workspace, job=job, **settings)
    if job is not None:
        plan = make_plan(design, workspace)
        write_job(plan, plan.jobs[0], job)
        return 0
    label = f"({printable(design.arms[0].label)})" * bool(design.arms[0].values)
    (result,) = run_studies([design], execution("local", 1, track), label)
    (trial,) = result.report.files.report.study.trials
    output().print(f"trial {trial.trial} in {workspace.runs / trial.trial}")
    return 1 if result.failed else 0


def export_trial(trial: str, file: Path, samples: int | None) -> int:
    """Write the weights after `samples` samples, by default the last, of the trial whose id begins so. Raises UserError
    for a trial without such a snapshot, and where the file exists."""
    from gonn_core.trial.weights import export_weights

    if file.exists():
        raise InputError(file, "this file exists already")
    folder = find_trial(Workspace.here(), trial)
    digest = export_weights(folder, file, samples)
    output().print(f"weights {digest} of trial {folder.name} in {file}")
    return 0


def write_job(plan: Plan, task: Job, path: Path) -> None:
    """Write a job of a plan, and the recipe of its data next to it, for another machine."""
    from gonn_core.trial.weights import start_path

    prepared, study = plan.prepared, plan.study
    portable = {"runs": "runs", "store": f"stores/{prepared.store.digest}"}  # relative: the job runs anywhere
    labels = {"base": study.base, "budget": study.budget_label, "data": study.coverage, "seed": task.labels["seed"]}
    task = task.model_copy(update={"run": task.run.model_copy(update=portable), "labels": labels})
    write_json(path, task.model_dump(mode="json"), sealed=False)  # for people to change
    recipe = path.with_name(f"{prepared.dataset.label}.recipe.json")
    write_json(recipe, recipe_of(prepared).model_dump(mode="json"), sealed=False)
    trial = f"{path}: trial {task.id} of {task.config.training.samples:,} samples"
    output().print(f"{trial}; {recipe}: its data. On a machine with the archives:")
    output().print(f"  python -m gonn_core.records {recipe} --games FOLDER")
    if (digest := task.config.training.start_from) is not None:
        weights = start_path(path.absolute().parent / "runs", digest)
        output().print(f"  (with {weights} in a folder weights next to runs)")
    output().print(f"  python -m gonn_core.trial {path}")
