"""`gonn probe`: put the probes to trained nets, print scores and test positions, draw the boards."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ablations.data.datasets import load_dataset
from ablations.study import Study
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.evaluation.probes.stored import ProbeAnswers
from gonn_core.evaluation.probes.suite import Suite
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import read_job
from orchestration.console import output
from orchestration.data.prepare import prepare_shown
from orchestration.experiment.pipeline import execution, run_missing
from orchestration.study.folder import all_studies
from reports.workspace import Workspace

if TYPE_CHECKING:
    from gonn_core.trial.evaluations import ProbeJob


def probe(
    target: str,
    data: str,
    data_dir: Path | None,
    boards: bool,
    runner: str,
    slots: int | None,
    per_gpu: int | None,
    address: str | None,
) -> int:
    """Probe a trial, or all finished trials of a study; ladders are cut from the validation and test games of a data
    set. 1 when some could not be probed."""
    from gonn_core.trial.evaluations import RUN_PROBES

    workspace = Workspace.here()
    study, trial = _find(workspace, target)
    dataset = load_dataset(data, data_dir)
    how = execution(runner, slots, track=False, address=address, function=RUN_PROBES, per_gpu=per_gpu)
    names = [trial] if study is None else _finished(workspace, study)
    for name in names:
        if TrialDirectory(workspace.runs / name).result() is None:
            state = TrialDirectory(workspace.runs / name).state()
            raise InputError(workspace.runs / name, f"not trained to the end yet ({state})")
    suite = _suite(workspace, dataset)
    jobs = [_job(workspace, name, suite) for name in names]
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
        _show_trial(trial, answers[trial])
    if boards:
        for name in _first_of_arms(study, list(answers)) if study else list(answers):
            output().print(f"boards: {_draw(workspace, name, answers[name])}")
    return 1 if failed else 0


def _finished(workspace: Workspace, study: Study) -> list[str]:
    """Trials of a study that are done. Raises UserError when none is."""
    done = [ref.trial for ref in study.trials if TrialDirectory(workspace.runs / ref.trial).state() == "done"]
    if not done:
        raise UserError(f"study {study.id}: none of its {len(study.trials)} trials is done yet; gonn status shows them")
    return done


def _job(workspace: Workspace, trial: str, suite: Suite) -> "ProbeJob":
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


def _suite(workspace: Workspace, dataset) -> Suite:
    from gonn_core.evaluation.probes.ladders import suite_with_ladders

    prepared = prepare_shown(dataset, workspace)
    games = np.unique(
        np.concatenate([prepared.views[split].games() for split in ("validation", "test")])
    )  # nothing trained on is asked
    return suite_with_ladders(prepared.store, games)


def _first_of_arms(study: Study, done: list[str]) -> list[str]:
    first: dict[str, str] = {}
    for ref in study.trials:
        if ref.trial in done:
            first.setdefault(ref.arm, ref.trial)
    return list(dict.fromkeys(first.values()))


def _show_trial(trial: str, answers: ProbeAnswers) -> None:
    from reports.probes.effects import groups_table, positions_table

    _print(groups_table(answers, f"Probes of trial {trial}"))
    _print(positions_table(answers))


def _show_study(workspace: Workspace, study: Study, suite: Suite) -> None:
    from orchestration.study.folder import study_folder
    from reports.probes.effects import effects_table, study_effects
    from reports.results.decisions import load_results

    results = load_results(study, workspace.runs, study_folder(workspace, study.id))
    _print(effects_table(study_effects(results, suite.digest)))


def _print(table) -> None:
    from reports.tables.writers import TerminalTable

    console = output()
    console.print(table.title)
    console.print(TerminalTable(table))
    for note in table.notes:
        console.print(note)
    console.print()


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
