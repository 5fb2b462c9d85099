"""What is asked of trained trials: `gonn evaluate`, more evaluations without training; `gonn probe`, which applies the
probes to nets, prints scores and test positions, and draws the boards."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from ablations.registry import load_registry
from ablations.request import Device
from ablations.study import Study
from gonn_core.errors import InputError, SettingError
from gonn_core.evaluation.probes.stored import ProbeAnswers
from gonn_core.evaluation.probes.suite import Suite
from gonn_core.evaluation.stored import Evaluation, load_evaluations
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import EvaluationRequest, Job, RunSettings, read_job
from orchestration.console import output
from orchestration.experiment.pipeline import execution, run_missing
from orchestration.experiment.settings import check_device, commit_and_dirty, evaluated_positions
from orchestration.study.folder import all_studies, count_look, find_study, finished_trials, study_folder
from orchestration.study.plan import jobs_of
from reports.workspace import Workspace

if TYPE_CHECKING:
    from gonn_core.trial.evaluations import ProbeJob


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
    done = finished_trials(workspace, chosen)
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
    output().print(_evaluations_table(chosen, evaluations))
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


def _evaluations_table(study: Study, evaluations: Mapping[str, Evaluation]) -> Table:
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


def probe(
    target: str,
    boards: bool,
    runner: str,
    slots: int | None,
    per_gpu: int | None,
    address: str | None,
) -> int:
    """Probe a trial, or all finished trials of a study. 1 when some could not be probed."""
    from gonn_core.evaluation.probes.suite import probe_suite
    from gonn_core.trial.evaluations import RUN_PROBES

    workspace = Workspace.here()
    study, trial = _find(workspace, target)
    how = execution(runner, slots, track=False, address=address, function=RUN_PROBES, per_gpu=per_gpu)
    names = [trial] if study is None else finished_trials(workspace, study)
    for name in names:
        TrialDirectory(workspace.runs / name).finished()  # raises for a trial that is not
    suite = probe_suite()
    jobs = [_probe_job(workspace, name, suite) for name in names]
    lines = {
        name: f"probing {name} ({number} of {len(names)}): {len(suite.cases):,} cases"
        for number, name in enumerate(names, 1)
    }
    failed = run_missing(jobs, how, study.id if study else trial, lines, lambda job: job.answers is not None)
    stored = {job.id: job.answers for job in jobs if job.id not in failed}
    answers = {name: each for name, each in stored.items() if each is not None}
    if study:
        _show_study(workspace, study, suite)
    elif trial in answers:
        from reports.probes.effects import groups_table, positions_table
        from reports.tables.writers import print_table

        print_table(groups_table(answers[trial], f"Probes of trial {trial}"), output())
        print_table(positions_table(answers[trial]), output())
    if boards:
        # of a study the first trial of each arm
        arms = {ref.arm: ref.trial for ref in reversed(study.trials) if ref.trial in answers} if study else {"": trial}
        for name in sorted({*arms.values()} & answers.keys(), key=names.index):
            output().print(f"boards: {_draw(workspace, name, answers[name])}")
    return 1 if failed else 0


def _probe_job(workspace: Workspace, trial: str, suite: Suite) -> "ProbeJob":
    """A trial of the workspace as a job that puts the suite to its net, on the CPU. Raises UserError for a trial of
    other numerics."""
    from gonn_core.trial.evaluations import ProbeJob

    job = read_job(workspace.runs / trial / "config.json")
    settings = job.run.model_copy(update={"runs": str(workspace.runs), "device": "cpu"})
    return ProbeJob(config=job.config, run=settings, suite=suite)


def _find(workspace: Workspace, target: str) -> tuple[Study | None, str]:
    """The study or trial whose id begins so; a study goes first, then the trial is empty. Raises SettingError."""
    studies = [study for study in all_studies(workspace) if study.id.startswith(target)]
    if studies:
        return studies[-1], ""
    trials = sorted(path.parent.name for path in workspace.runs.glob("*/config.json"))
    matches = [name for name in trials if name.startswith(target)]
    if len(matches) != 1:
        valid = (matches or [study.id for study in all_studies(workspace)][-4:] + trials[-4:])[:8]
        problem = "several trials begin so" if matches else "no such study or trial"
        raise SettingError("TARGET", target, problem, valid or "none yet: make ablation NAME=… makes some")
    return None, matches[0]


def _show_study(workspace: Workspace, study: Study, suite: Suite) -> None:
    from reports.probes.effects import effects_table, study_effects
    from reports.results.decisions import load_results
    from reports.tables.writers import print_table

    results = load_results(study, workspace.runs, study_folder(workspace, study.id))
    print_table(effects_table(study_effects(results, suite.digest)), output())


def _draw(workspace: Workspace, trial: str, answers: ProbeAnswers) -> Path:
    """Draw all test positions into out/probes/<trial>/."""
    from gonn_core.evaluation.probes.suite import published
    from reports.probes.boards import draw_policy

    folder = workspace.out / "probes" / trial
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in published():
            title = f"trial {trial}, {answers.summary['samples']:,} samples"
            (folder / f"{each.case.name}.png").write_bytes(draw_policy(each, answers.policy(each.case.name), title))
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror})") from None
    return folder
