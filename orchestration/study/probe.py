"""`gonn probe`: put the probes to trained nets, print scores and test positions, draw the boards."""

from pathlib import Path

import numpy as np

from ablations.data.datasets import load_dataset
from ablations.study import Study
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.stored import ProbeAnswers
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.data.prepare import prepare_shown
from orchestration.study.folder import all_studies
from orchestration.workspace import Workspace, data_folder


def probe(target: str, data: str, data_dir: Path | None, boards: bool) -> int:
    """Probe a trial, or all finished trials of a study; ladders are cut from the validation and test games of a data
    set."""
    workspace = Workspace.here()
    study, trial = _find(workspace, target)
    dataset = load_dataset(data, data_folder(data_dir))
    done = (
        [trial]
        if trial
        else [ref.trial for ref in study.trials if TrialDirectory(workspace.runs / ref.trial).state() == "done"]
    )
    if not done:
        raise UserError(f"study {study.id}: none of its {len(study.trials)} trials is done yet; gonn status shows them")
    if trial and TrialDirectory(workspace.runs / trial).result() is None:
        raise InputError(
            workspace.runs / trial, f"not trained to the end yet ({TrialDirectory(workspace.runs / trial).state()})"
        )
    suite = _suite(workspace, dataset)
    given = {}
    for number, name in enumerate(done, 1):
        notes().print(f"probing {name} ({number} of {len(done)}): {len(suite.cases):,} cases")
        given[name] = _put(workspace, name, suite)
    if study:
        _show_study(workspace, study, suite)
    shown = [trial] if trial else _first_of_arms(study, done)
    if trial:
        _show_trial(trial, given[trial])
    for name in shown:
        _show_ladder_head(name, given[name])
    if boards:
        for name in shown:
            output().print(f"boards: {_draw(workspace, name, given[name])}")
    return 0


def _find(workspace: Workspace, target: str) -> tuple[Study | None, str | None]:
    """The study or trial whose id begins so; a study goes first. Raises SettingError."""
    studies = [study for study in all_studies(workspace) if study.id.startswith(target)]
    if studies:
        return studies[-1], None
    trials = sorted(path.parent.name for path in workspace.runs.glob("*/config.json"))
    found = [name for name in trials if name.startswith(target)]
    if len(found) != 1:
        valid = (found or [study.id for study in all_studies(workspace)][-4:] + trials[-4:])[
            :8
        ] or "none yet: make ablation NAME=… makes some"
        raise SettingError("TARGET", target, "several trials begin so" if found else "no such study or trial", valid)
    return None, found[0]


def _suite(workspace: Workspace, dataset) -> Suite:
    from gonn_core.evaluation.probes.suite import suite_with_ladders

    prepared = prepare_shown(dataset, workspace)
    games = np.unique(
        np.concatenate([prepared.views[split].games() for split in ("validation", "test")])
    )  # nothing trained on is asked
    return suite_with_ladders(prepared.store, games)


def _put(workspace: Workspace, trial: str, suite: Suite) -> ProbeAnswers:
    from gonn_core.training.environment import reset_torch
    from gonn_core.trial.probe_answers import answer_probes

    reset_torch(1)
    return answer_probes(TrialDirectory(workspace.runs / trial), suite)


def _first_of_arms(study: Study, done: list[str]) -> list[str]:
    first = {}
    for ref in study.trials:
        if ref.trial in done:
            first.setdefault(ref.arm, ref.trial)
    return list(dict.fromkeys(first.values()))


def _show_trial(trial: str, answers: ProbeAnswers) -> None:
    from gonn_core.evaluation.probes.published import published
    from reports.probes.tables import groups_table, positions_table

    _print(groups_table(answers, f"Probes of trial {trial}"))
    _print(positions_table(answers, published()))


def _show_ladder_head(trial: str, answers: ProbeAnswers) -> None:
    from reports.probes.ladders import ladder_head_table

    table = ladder_head_table(answers, f"Ladder head of trial {trial}")
    if table is not None:
        _print(table)


def _show_study(workspace: Workspace, study: Study, suite: Suite) -> None:
    from orchestration.study.folder import study_folder
    from reports.probes.effects import group_effects
    from reports.probes.tables import effects_table
    from reports.results.study_results import load_results

    results = load_results(study, workspace.runs, study_folder(workspace, study.id))
    _print(
        effects_table({contrast.card: group_effects(results, contrast, suite.digest) for contrast in study.contrasts})
    )


def _print(table) -> None:
    from reports.tables.terminal import rich_table

    console = output()
    console.print(table.title)
    console.print(rich_table(table))
    for note in table.notes:
        console.print(note)
    console.print()


def _draw(workspace: Workspace, trial: str, answers: ProbeAnswers) -> Path:
    """Draw all test positions into out/probes/<trial>/."""
    from gonn_core.evaluation.probes.published import published
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
