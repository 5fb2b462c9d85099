"""`gonn train`: one trial of a base net, as a study of one arm and one seed; or its job file for another machine."""

import json
from dataclasses import replace
from pathlib import Path

from ablations.data.datasets import recipe_of
from ablations.schema import PRECISION, RATE
from ablations.strict_yaml import parse_yaml
from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import InputError, SettingError, printable
from gonn_core.files.json_files import write_json
from gonn_core.settings.data import GamesConfig
from orchestration.console import output
from orchestration.data.prepare import prepare_shown
from orchestration.experiment.pipeline import execution
from orchestration.study.ablate import run_checked
from orchestration.study.checking import Checked, Request, check
from orchestration.study.laying_out import Plan, lay_out
from orchestration.study.trial_folder import find_trial
from reports.workspace import Workspace

_SHOWN = 12
"""Characters of a value in the name of an arm: the page of the study has all."""
_START = "training.start_from"


def parse_values(settings: tuple[str, ...]) -> dict:
    """`("net.activation=relu",)` -> {"net.activation": "relu"}; values are read like a card's. Raises SettingError."""
    values = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals:
            raise SettingError("--set", setting, "not a setting", "PATH=VALUE such as net.activation=relu")
        try:
            values[path] = parse_yaml(text, path)
        except InputError:
            raise SettingError(f"--set {path}", text, "not a YAML value") from None
    return values


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


def check_trial(
    base: str, seed: int, values: tuple[str, ...], start: str | None = None, job: Path | None = None, **settings
) -> Checked:
    """A study of one arm and one seed: a base with settings changed (`--set`), started from the weights of a trial of
    the workspace or of a file. job: where its job is to be written, None: it runs here; settings: further ones of a
    `Request`. Raises UserError."""
    chosen = parse_values(values)
    if settings.get("precision") is not None and PRECISION in chosen:
        raise SettingError(f"--set {PRECISION}", chosen[PRECISION], "--precision says it too", "one of them")
    checked = check(Request(name=None, base=base, seeds=f"{seed},", is_only_planned=job is not None, **settings))
    (arm,) = checked.arms
    config = with_values(arm.config, chosen, "--set")
    if job is not None and config.data.games != GamesConfig():
        games = config.data.games.model_dump(exclude_defaults=True)
        problem = "a job file names a data set's own views"
        raise SettingError("--set data.games", games, problem, "no --job, or no filter")
    changed = chosen if config != arm.config else {}
    if start is not None:
        workspace = Workspace.here()
        runs = workspace.runs if job is None else job.absolute().parent / "runs"
        changed = {**changed, _START: _start(start, config, workspace, runs)}
        config = with_values(config, {_START: changed[_START]})
    if not changed:
        return checked
    told = {path: json.dumps(value) for path, value in changed.items()}
    label = ", ".join(path + "=" + value.strip('"')[:_SHOWN] for path, value in told.items())
    budget = checked.budget
    if (samples := config.training.samples) != arm.config.training.samples:
        budget = budget.model_copy(update={"samples": samples})
    return replace(
        checked,
        arms=(arm.model_copy(update={"config": config, "label": f"with {label}", "values": told}),),
        base=config,
        budget=budget,
        rate=None if RATE in chosen else checked.rate,
    )


def train_base(track: bool, job: Path | None = None, **settings) -> int:
    """Train one trial and show what came of it; or write its job file. settings: of `check_trial`. Raises UserError."""
    workspace, checked = Workspace.here(), check_trial(job=job, **settings)
    if job is not None:
        _write_job(lay_out(checked, prepare_shown(checked.dataset, workspace), workspace), job)
        return 0
    (arm,) = checked.arms
    (result,) = run_checked([checked], execution("local", 1, track), f"({printable(arm.label)})" * bool(arm.values))
    (trial,) = result.report.files.report.study.trials
    output().print(f"trial {trial.trial} in {workspace.runs / trial.trial}")
    return 1 if result.failed else 0


def _write_job(plan: Plan, path: Path) -> None:
    """Write the job of a plan's only trial, and the recipe of its data beside it, for another machine."""
    from gonn_core.trial.weights import start_path

    (task,), prepared, study = plan.jobs, plan.prepared, plan.study
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
        output().print(f"  (with {weights} in a folder weights beside runs)")
    output().print(f"  python -m gonn_core.trial {path}")
