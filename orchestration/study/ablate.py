"""`gonn ablate`: a study from settings to table. Whatever is there already is not done again."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext

from ablations.study import Study
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job
from gonn_core.trial.twins import plainest_first
from orchestration.console import notes
from orchestration.data.prepare import prepare_shown
from orchestration.experiment.pipeline import Execution, Say, carry_out, execution, is_complete
from orchestration.experiment.progress import show
from orchestration.runners.base import OnEvent, Outcome
from orchestration.runners.warm_up import warm_kernels
from orchestration.search.adopt import SEARCH
from orchestration.study.arm_rates import search_arms
from orchestration.study.folder import keep_study, measure_speeds, study_folder
from orchestration.study.planning import Checked, Plan, Request, at_each_number, check, lay_out
from orchestration.study.report import ReportedStudy, report_study
from orchestration.tracking.records import StudyInfo, study_info
from reports.workspace import Workspace


def run_study(request: Request, runner: str, slots: int | None, track: bool, address: str | None = None) -> int:
    """Run a study, or one at each of several numbers of samples, and show what it found; 0 when every trial is done, 1
    otherwise. Raises UserError before any work."""
    each = [check(one) for one in at_each_number(request)]
    how = execution(runner, slots, track, address)
    failed = False
    for checked in each:
        notes().print(f"{checked.line} RUNNER={runner}")
        failed |= _run(checked, how)
    return 1 if failed else 0


def _run(checked: Checked, how: Execution) -> bool:
    """Run one study and show what it found; whether a trial failed."""
    request = checked.request
    plan = lay_out(checked, prepare_shown(checked.dataset, how.workspace), how.workspace)
    if request.lr == SEARCH:
        plan = lay_out(checked, plan.prepared, how.workspace, search_arms(plan, request.device, how))
    return carry_out(StudyExperiment(plan, request.device, how.workspace), how).failed


class StudyExperiment:
    """A study: its trials are known beforehand, and each runs to its end."""

    def __init__(self, plan: Plan, device: str, workspace: Workspace):
        """Writes the study down, unless that was done before."""
        self._plan, self._device, self._workspace = plan, device, workspace
        self.study = study = keep_study(workspace, plan.study)
        self.id, self.folder, self.size = study.id, study_folder(workspace, study.id), len(study.trials)
        self._names = {trial.trial: f"{study.arm(trial.arm).label} s{trial.seed}" for trial in study.trials}
        self._jobs: list[Job] = []

    def opened(self) -> AbstractContextManager:
        """Trials are leased one by one: several commands may run a study."""
        return nullcontext()

    def summary(self) -> str:
        """See `Experiment`."""
        trials = self.study.trials
        done = sum(TrialDirectory(self._workspace.runs / trial.trial).state() == "done" for trial in trials)
        return f"study {self.id}: {len(trials)} trials, {done} of them done already; data {self.study.coverage}"

    def prepare(self, say: Say) -> bool:
        """Measure each arm's speed while nothing runs."""
        self._jobs = plainest_first(job for job in self._plan.jobs if not is_complete(job))
        measure_speeds(self._workspace, self.study, self._device, say)
        if self._jobs:
            configs = [arm.config for arm in self._plan.study.arms]
            warm_kernels(configs, self._plan.prepared.views["train"], self._device, say)
        return bool(self._jobs)

    def jobs(self, grown: Callable[[], object]) -> Iterable[Job]:
        """A study never grows."""
        return self._jobs

    def display(self) -> AbstractContextManager[OnEvent]:
        """A line per running trial on a terminal, plain lines elsewhere."""
        return show(
            self.id,
            {job.id: self._names[job.id] for job in self._jobs},
            {job.id: job.config.training.samples for job in self._jobs},
        )

    def info(self) -> StudyInfo:
        """See `Experiment`."""
        return study_info(self.study)

    def report(self) -> ReportedStudy:
        """See `Experiment`."""
        return report_study(self._workspace, self.study, "ablate")

    def failures(self, outcomes: list[Outcome]) -> Iterator[str]:
        """Each with its traceback, and how many they are."""
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        for outcome in failed:
            trial = _trial(self.study, outcome.trial)
            yield f"\n{trial.arm} on seed {trial.seed} (trial {trial.trial}) failed: {outcome.error}"
            if outcome.traceback:
                yield outcome.traceback
        if failed:
            yield f"{len(failed)} of {len(self.study.trials)} trials failed; the same command tries them again"


def _trial(study: Study, trial_id: str):
    return next(trial for trial in study.trials if trial.trial == trial_id)
