"""`gonn record`: train the recipe of a record and print its row, or verify a row (rules: records/README.md)."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from ablations.request import Device, Request
from ablations.resolve import resolve_study
from ablations.schema import YAML
from ablations.strict_yaml import read_yaml
from ablations.study import read_study
from gonn_core.config import parse_config, parse_model
from gonn_core.errors import InputError, SettingError
from gonn_core.files.json_files import read_json, write_json
from gonn_core.nets import trainable_parameters, trial_net
from gonn_core.nets.init import ShapesOnly
from gonn_core.training.cost import training_flops
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import find_evaluation
from gonn_core.trial.job import Job, whole_batches
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import unpack
from orchestration.console import output
from orchestration.experiment.pipeline import execution, run_missing
from orchestration.experiment.settings import check_device, commit_and_dirty
from orchestration.study.plan import Plan, make_plan
from orchestration.study.train import write_job
from reports.records import RECORDS, RULES, Recipe, Row, noise_of, read_rows, record_tables
from reports.workspace import Workspace

MARKS = (0.01, 0.1)
"""Shares of the samples after which the weights' digests are kept."""
_HISTORY = "as_published"
_FIXED = ("training.samples", "training.start_from", "training.init_seed", "training.data_seed")
"""Paths that the values of a recipe do not change: it says them elsewhere, or its nets start from random weights."""


def record(
    recipe: Path | None, keep: Path | None, jobs: Path | None, verify: bool, data_dir: Path | None, device: Device
) -> int:
    """Train a recipe, records/recipe.yaml unless given, and print its row; or write its job files into the folder
    `jobs`; or verify the row in that file. 1 when that fails."""
    recipe = recipe or RECORDS / "recipe.yaml"
    if sum((keep is not None, jobs is not None, verify)) > 1:
        raise InputError(recipe, "--keep, --jobs and --verify: one of them")
    if jobs is None:
        check_device(device)
    if verify:
        return _verify(parse_model(Row, read_json(recipe), recipe.name), data_dir, device)
    asked = parse_model(Recipe, read_yaml(recipe), recipe.name)
    if keep is not None and keep.exists():
        raise InputError(keep, "this file exists already")
    if keep is not None and commit_and_dirty(recipe)[1]:
        raise InputError(recipe, "it is not committed, and neither may its results be kept (rule 2)")
    plan = recipe_plan(asked, data_dir, device)
    if jobs is not None:
        for seed, job in zip(asked.seeds, plan.jobs, strict=True):
            write_job(plan, job, jobs / f"{recipe.stem}-s{seed}.json")
        return 0
    lines = {job.id: f"seed {seed}: trial {job.id}" for seed, job in zip(asked.seeds, plan.jobs, strict=True)}
    totals = dict.fromkeys(lines, asked.samples)
    if run_missing(plan.jobs, execution("local", None, track=False), "record", lines, totals=totals):
        return 1
    row = row_of(asked, plan.jobs)
    output().print(record_tables({(keep or recipe).stem: row}, noise_of()), soft_wrap=True)
    if keep is not None:
        write_json(keep, row.model_dump(mode="json"), sealed=False)
    return 0


def recipe_plan(recipe: Recipe, data_dir: Path | None, device: Device) -> Plan:
    """A job for each seed, which keeps weights at `MARKS` and evaluates all test positions. Raises UserError."""
    if recipe.rules != RULES:
        raise SettingError("rules", recipe.rules, "another version of the rules", RULES)
    if fixed := next((path for path in _FIXED if path in recipe.values), None):
        raise SettingError("values", fixed, "a recipe does not change it here", "its samples and seeds, random weights")
    values = tuple(f"{path}={json.dumps(value)}" for path, value in recipe.values.items())
    base = str(RECORDS / recipe.base) if recipe.base.endswith(YAML) else recipe.base
    design = resolve_study(
        Request(
            base=base, data=recipe.data, data_dir=data_dir, samples=str(recipe.samples), values=values,
            seeds=",".join(map(str, recipe.seeds)), device=device,
        )
    )  # fmt: skip
    whole = design.budget.model_copy(update={"evaluation_positions": "all"})
    plan, jobs = make_plan(replace(design, budget=whole), Workspace.here()), []
    for job in plan.jobs:
        tests = tuple(request for request in job.run.evaluations if request.history == _HISTORY)
        if not tests:
            raise SettingError("data", recipe.data, "a data set without test games")
        tests += tuple(test.model_copy(update={"symmetry_averaging": True}) for test in tests if recipe.symmetries)
        if job.config.training.samples != recipe.samples:
            batch = job.config.training.batch_size
            raise SettingError(
                "samples", recipe.samples, f"not whole batches of {batch}", str(job.config.training.samples)
            )
        run = job.run.model_copy(update={"evaluations": tests, "snapshots": (*job.run.snapshots, *marks_of(job))})
        jobs.append(job.model_copy(update={"run": run}))
    return replace(plan, jobs=tuple(jobs))


def marks_of(job: Job) -> tuple[int, ...]:
    """Samples at `MARKS`, in whole batches."""
    training = job.config.training
    return tuple(whole_batches(max(1, int(training.samples * share)), training.batch_size) for share in MARKS)


def row_of(recipe: Recipe, jobs: Iterable[Job]) -> Row:
    """Of the recipe's finished trials."""
    jobs = list(jobs)
    folders = [TrialDirectory(Path(job.run.runs) / job.id) for job in jobs]

    def evaluated(place: int) -> list[dict]:
        requests = ((folder, job, job.run.evaluations[place]) for folder, job in zip(folders, jobs, strict=True))
        return [summary for request in requests if (summary := find_evaluation(*request)) is not None]

    tests = evaluated(0)
    results = [folder.finished() for folder in folders]
    sessions = [session for folder in folders for session in (folder.config() or {})["sessions"]]
    config = jobs[0].config
    return Row(
        recipe=recipe,
        top1=tuple(test["top1"] for test in tests),
        averaged=tuple(test["top1"] for test in evaluated(1)) if recipe.symmetries else (),
        nats=tuple(test["nats"] for test in tests),
        operations=training_flops(config) * config.training.samples,
        search_operations=search_operations(Workspace.here(), recipe.found_by) if recipe.found_by else None,
        parameters=trainable_parameters(trial_net(config, ShapesOnly())),
        seconds=mean(result["cpu_seconds" if result["device"] == "cpu" else "training_seconds"] for result in results),
        processor=_all(
            session["processor"] if session["device"] == "cpu" else session["device"] for session in sessions
        ),
        commit=_all(session["commit"] + " (changed)" * session["dirty"] for session in sessions),
        test=tests[0]["subset"],
        positions=tests[0]["positions"],
        digests=tuple(_digests(job, folder, marks_of(job)) for folder, job in zip(folders, jobs, strict=True)),
    )


def search_operations(workspace: Workspace, found_by: Sequence[str]) -> float:
    """Of training all trials of these studies, each trial once, as far as it was trained; of rows among them, the
    nets and their search. Raises UserError."""
    rows = read_rows()
    studies = [read_study(workspace.studies / name / "study.json") for name in found_by if name not in rows]
    trials = {ref.trial for study in studies for ref in study.trials}
    earlier = [rows[name] for name in found_by if name in rows]
    total = sum(len(row.top1) * row.operations + (row.search_operations or 0) for row in earlier)
    for folder in (TrialDirectory(workspace.runs / trial) for trial in sorted(trials)):
        if lines := folder.metrics():
            total += training_flops(parse_config((folder.config() or {})["config"])) * lines[-1]["samples"]
    return total


def _all(words: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(words))


def _digests(job: Job, folder: TrialDirectory, marks: Sequence[int]) -> tuple[str, ...]:
    """Of a trial's weights after these numbers of samples; retrained so far elsewhere, if it lacks one."""
    if not folder.snapshots().keys() >= set(marks):
        with tempfile.TemporaryDirectory() as runs:
            copy = job.model_copy(update={"run": job.run.model_copy(update={"runs": runs, "evaluations": ()})})
            run_trial(copy, lambda event: event.samples < marks[-1])
            return _digests(copy, TrialDirectory(Path(runs) / copy.id), marks)
    kept = (unpack(folder.snapshots()[samples], folder.path.name) for samples in marks)
    return tuple(notes["weights"] for _, notes in kept)


def _verify(row: Row, data_dir: Path | None, device: Device) -> int:
    """Retrain the first per cent of each seed, elsewhere, and compare the weights."""
    differs = 0
    for seed, job, kept in zip(
        row.recipe.seeds, recipe_plan(row.recipe, data_dir, device).jobs, row.digests, strict=True
    ):
        first = marks_of(job)[0]
        with tempfile.TemporaryDirectory() as nowhere:
            (digest,) = _digests(job, TrialDirectory(Path(nowhere)), (first,))
        said = "equal" if digest == kept[0] else f"{digest} instead of {kept[0]}, which was trained on {row.processor}"
        output().print(f"seed {seed}: weights after {first:,} samples: {said}", soft_wrap=True)
        differs += digest != kept[0]
    return 1 if differs else 0
