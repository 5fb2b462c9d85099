"""`gonn evaluate`: more evaluations of trained trials, without training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.registry import load_registry
from gonn_core.errors import UserError
from gonn_core.evaluation.stored import Evaluation, load_evaluations
from gonn_core.metrics import METRICS
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import EvaluationRequest, RunSettings
from orchestration.console import notes, output
from orchestration.experiment.settings import check_device
from orchestration.gitinfo import commit_and_dirty
from orchestration.study.folder import count_look, find_study
from orchestration.study.planning import jobs_of
from orchestration.workspace import Workspace
from reports.study.extra_metrics import FURTHER
from reports.tables.formats import NONE, level


def evaluate_study(
    study: str,
    split: str,
    history: str,
    positions: int | None,
    symmetry_averaging: bool,
    legal_only: bool,
    metrics: bool,
    device: str,
) -> int:
    """Evaluate the finished trials of a study on a split of the very games that it was planned on; prints a line for
    each.

    symmetry_averaging, legal_only: read their policies so even where their configurations do not.
    """
    from gonn_core.trial.data import TrialData
    from gonn_core.trial.run import run_trial

    workspace, aside = Workspace.here(), notes()
    found = find_study(workspace, study)
    budget = load_registry().budget(found.budget)
    check_device(device)
    done = [trial.trial for trial in found.trials if TrialDirectory(workspace.runs / trial.trial).state() == "done"]
    if not done:
        raise UserError(f"study {found.id}: none of its {len(found.trials)} trials is done yet; gonn status shows them")
    ran = TrialDirectory(workspace.runs / done[0]).config()["run"]
    store = workspace.stores / Path(ran["store"]).name
    view = TrialData(store).view(ran["progress_view"] if split == "validation" else found.evaluations[0].view)
    wanted = positions or budget.evaluation_positions
    request = EvaluationRequest(
        split=split,
        view=view.digest,
        minimum_positions=view.n if wanted == "all" else min(wanted, view.n),
        history=history,
        symmetry_averaging=symmetry_averaging,
        legal_only=legal_only,
    )
    table = Table(
        "arm", "seed", "nats", "top-1", "top-4", "positions", "games", "trial", box=box.SIMPLE_HEAD, pad_edge=False
    )
    answers: dict[str, list[Evaluation]] = {}
    commit, dirty = commit_and_dirty()
    settings = RunSettings(
        runs=str(workspace.runs), store=str(store), device=device, evaluations=(request,), commit=commit, dirty=dirty
    )
    for trial, job in zip(found.trials, jobs_of(found, settings)):
        if trial.trial not in done:
            continue
        aside.print(f"evaluating {found.arm(trial.arm).label} s{trial.seed}")
        summary = run_trial(job)["evaluations"][0]
        label = found.arm(trial.arm).label
        shares = (f"{100 * summary[name]:.2f} %" for name in ("top1", "top4"))
        table.add_row(
            label,
            str(trial.seed),
            f"{summary['nats']:.4f}",
            *shares,
            f"{summary['positions']:,}",
            f"{summary['games']:,}",
            trial.trial,
        )
        answers.setdefault(label, []).append(
            next(each for each in load_evaluations(workspace.runs / trial.trial) if each.summary["id"] == summary["id"])
        )
    if split == "test":
        count_look(workspace, found, done, "evaluate")
    output().print(table)
    if metrics:
        output().print(_further(answers))
    if len(done) < len(found.trials):
        output().print(
            f"{len(found.trials) - len(done)} of {len(found.trials)} trials are not done yet; gonn status shows them"
        )
    return 0


def _further(answers: Mapping[str, Sequence[Evaluation]]) -> Table:
    """The documents' further metrics by arm, means over seeds."""
    table = Table("metric", box=box.SIMPLE_HEAD, pad_edge=False)
    for arm in answers:
        table.add_column(Text(arm))
    for name in FURTHER:
        values = (
            [found for each in arm if (found := each.position_values(name)) is not None] for arm in answers.values()
        )
        means = (
            level(float(mean([each.mean() for each in found])), METRICS[name].unit) if found else NONE
            for found in values
        )
        table.add_row(METRICS[name].title, *means)
    return table
