"""`gonn ablate`: a study from settings to table. Whatever is there already is not done again."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ablations.data.datasets import PreparedData
from ablations.study import Study
from gonn_core.config import TrialConfig
from gonn_core.errors import SettingError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.twins import plainest_first
from orchestration.console import notes, output
from orchestration.data.verbs import prepare_shown
from orchestration.experiment.accounting import AccountedRunner
from orchestration.experiment.progress import show
from orchestration.experiment.stopping import StoppableRunner
from orchestration.reporting.study_report import report_study
from orchestration.runners.base import Outcome, Runner
from orchestration.runners.ray_cluster import address_of
from orchestration.search.adopt import SEARCH
from orchestration.study.folder import keep_study, measure_speeds, study_folder
from orchestration.study.planning import Request, check, lay_out
from orchestration.tracking.records import study_info
from orchestration.workspace import Workspace


def make_runner(name: str, address: str | None = None) -> Runner:
    """The runner of that name, on the cluster at `address` or $RAY_ADDRESS if there is one. Raises SettingError
    (RUNNER, RAY_ADDRESS)."""
    address = address_of(address, name)
    if name == "ray":
        from orchestration.runners.ray_tune import RayRunner

        return RayRunner(address)
    if name == "local":
        from orchestration.runners.local import LocalRunner

        return LocalRunner()
    raise SettingError("RUNNER", name, "no such runner", ["ray", "local"])


def run_study(request: Request, runner: str, slots: int | None, track: bool, address: str | None = None) -> int:
    """Run a study and show what it found; 0 when every trial is done, 1 otherwise. Raises UserError before any work."""
    from orchestration.tracking.tracker import Tracker

    checked = check(request)
    engine = make_runner(runner, address)
    workspace, aside = Workspace.here(), notes()
    tracker = Tracker(workspace.root, workspace.runs, aside.print) if track else None
    aside.print(f"{checked.line} RUNNER={runner}")
    plan = lay_out(checked, prepare_shown(checked.dataset, workspace), workspace)
    if request.lr == SEARCH:
        from orchestration.search.arms import search_arms  # which needs this module

        plan = lay_out(
            checked, plan.prepared, workspace, search_arms(plan, request.device, workspace, engine, slots, track)
        )
    study = keep_study(workspace, plan.study)
    aside.print(
        f"study {study.id}: {len(study.trials)} trials, {_done(study, workspace)} of them done already; data {study.coverage}"
    )
    jobs = plainest_first(job for job in plan.jobs if not is_complete(job))
    measure_speeds(workspace, study, request.device, aside.print)
    if jobs:
        warm_kernels([arm.config for arm in plan.study.arms], plan.prepared, request.device, aside.print)
    accounted = AccountedRunner(StoppableRunner(engine, workspace, study.id), study_folder(workspace, study.id))
    outcomes = _run(study, jobs, accounted, slots, tracker)
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    report = report_study(workspace, study, "ablate")
    if tracker is not None:
        tracker.study_finished(study_info(study), report.tracked)
    report.show(output())
    if accounted.spent is not None and accounted.spent.slots:
        aside.print(accounted.spent.line)
    for outcome in failed:
        _tell_failure(study, outcome)
    if failed:
        aside.print(f"{len(failed)} of {len(study.trials)} trials failed; the same command tries them again")
    return 1 if failed else 0


def is_complete(job) -> bool:
    """Whether a job's trial is done and has all evaluations that the job asks for."""
    from gonn_core.trial.evaluations import find_evaluation

    directory = TrialDirectory(Path(job.run.runs) / job.id)
    return directory.result() is not None and None not in [
        find_evaluation(directory, job, request) for request in job.run.evaluations
    ]


def warm_kernels(configs: Sequence[TrialConfig], prepared: PreparedData, device: str, say) -> None:
    """Compile the kernels of all planes and targets before the workers need them, each of which would compile them anew
    at the same time."""
    import torch

    from gonn_core.records.sampler import Sampler
    from gonn_core.training.batches import PlaneMaker, extras_of
    from gonn_core.training.environment import choose_device

    kind = choose_device(device)
    view = prepared.views["train"]
    rows, symmetries, keep = Sampler(view, 2, 0).batch(0)
    inputs = dict.fromkeys((config.features, extras_of(config)) for config in configs)
    makers = [PlaneMaker(view.store, features, kind, torch.channels_last, extras) for features, extras in inputs]
    if not all(maker.is_compiled for maker in makers):
        say("compiling the plane kernels, once …")
    for maker in makers:
        maker.on_host(rows, symmetries, keep)


def _done(study: Study, workspace: Workspace) -> int:
    return sum(TrialDirectory(workspace.runs / trial.trial).state() == "done" for trial in study.trials)


def _run(study: Study, jobs, engine: Runner, slots: int | None, tracker) -> list[Outcome]:
    if tracker is not None:
        tracker.study_started(study_info(study))
    if not jobs:
        return []
    names = _labels(study)
    labels = {job.id: names[job.id] for job in jobs}
    with show(study.id, labels, {job.id: job.config.training.samples for job in jobs}) as display:
        if tracker is None:
            return engine.run(jobs, slots, display)
        with tracker.following():
            return engine.run(jobs, slots, display)


def _labels(study: Study) -> dict[str, str]:
    return {trial.trial: f"{study.arm(trial.arm).label} s{trial.seed}" for trial in study.trials}


def _tell_failure(study: Study, outcome: Outcome) -> None:
    trial = next(trial for trial in study.trials if trial.trial == outcome.trial)
    print(f"\n{trial.arm} on seed {trial.seed} (trial {trial.trial}) failed: {outcome.error}", file=sys.stderr)
    if outcome.traceback:
        print(outcome.traceback, file=sys.stderr)
