"""Runs studies: from settings to table. Finished work is not repeated."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ablations.resolve import SEARCH, Design
from ablations.study import TrialRef
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from orchestration.console import notes, output
from orchestration.experiment.pipeline import Execution, Result, Say, carry_out, execution, is_complete
from orchestration.experiment.progress import StudyDisplay
from orchestration.experiment.settings import warm_kernels
from orchestration.runners.base import JobSource, OnEvent, TrialOutcome
from orchestration.study.first_look import first_look, look_first
from orchestration.study.folder import keep_study, measure_speeds
from orchestration.study.looks import LookedAt
from orchestration.study.plan import Plan, at_found_rates, check_machine, make_plan
from orchestration.study.rates import search_arms
from orchestration.study.report import ReportedStudy, report_samples, report_study
from orchestration.tracking.records import StudyInfo, study_info
from reports.results.decisions import is_sequential, trials_due
from reports.study.report import looks_line
from reports.workspace import Workspace


def run_studies(designs: Sequence[Design], how: Execution, more: str = "") -> list[Result[ReportedStudy]]:
    """Run a study, or one at each of several numbers of samples, and show what each found. more: printed after its
    settings. Raises UserError before any work."""
    workspace = how.workspace
    check_machine(designs[0].request)
    results = [run(make_plan(design, workspace, more), how) for design in designs]
    if len(results) > 1:
        report_samples(workspace, [result.report.files.report.study for result in results], output())
    return results


def run_command(
    designs: Sequence[Design], runner: str, slots: int | None, track: bool, address: str | None, per_gpu: int | None
) -> int:
    """`gonn ablate` and `gonn scale`: 0 when every trial is done, 1 otherwise."""
    how = execution(runner, slots, track, address, per_gpu=per_gpu)
    results = run_studies(designs, how, f"RUNNER={runner}")
    return 1 if any(result.failed for result in results) else 0


def run(plan: Plan, how: Execution) -> Result[ReportedStudy]:
    """Run the study of a plan, after its searches and its first look if it has any, and show what it found."""
    workspace = how.workspace
    if plan.design.request.lr == SEARCH:
        plan = at_found_rates(plan, search_arms(plan.design, plan.study, plan.prepared, how), workspace)
    look = first_look(plan, workspace, notes().print)
    if look is not None:
        look_first(look, lambda first: carry_out(StudyExperiment(first, workspace), how, show=False))
    if line := looks_line(plan.study):
        notes().print(line)
    return carry_out(StudyExperiment(plan, workspace), how)


class StudyExperiment:
    """A study: its trials are known beforehand, and each runs to its end; those after a planned look only where it
    leaves their arm."""

    def __init__(self, plan: Plan, workspace: Workspace):
        """Writes the study down, unless that was done before."""
        self._plan, self._workspace = plan, workspace
        self._device, self._compile = plan.design.request.device, plan.design.request.compile
        self.study = study = keep_study(workspace, plan.study)
        self.id, self.size = study.id, len(study.trials)
        self._names = {trial.trial: f"{study.arm(trial.arm).label} s{trial.seed}" for trial in study.trials}
        self._jobs: list[Job] = []
        self._looks = LookedAt(workspace, study, plan.jobs, self._say) if is_sequential(study) else None
        self._display: StudyDisplay | None = None

    def _say(self, line: str) -> None:
        """Print a line above the display, if there is one."""
        if self._display is None:
            notes().print(line)
        else:
            self._display.note(line)

    def _due(self) -> Sequence[TrialRef]:
        return trials_due(self.study, self._workspace.runs, self._workspace.report_cache)

    def opened(self) -> AbstractContextManager:
        """Trials are leased one by one: several commands may run a study."""
        return nullcontext()

    def summary(self) -> str:
        """See `Experiment`."""
        trials = self._due()
        done = sum(TrialDirectory(self._workspace.runs / trial.trial).state() == "done" for trial in trials)
        until = " until its next look" if len(trials) < len(self.study.trials) else ""
        count = f"{len(trials)} trial{'s' * (len(trials) != 1)}{until}"
        return f"study {self.id}: {count}, {done} of them done already; data {self.study.coverage}"

    def prepare(self, say: Say) -> bool:
        """Measure each arm's speed while nothing runs."""
        if self._looks:
            self._jobs = self._looks.missing()
        else:
            self._jobs = [job for job in self._plan.jobs if not is_complete(job)]
        measure_speeds(self._workspace, self.study, self._device, say, self._compile)
        if self._jobs:
            configs = [arm.config for arm in self._plan.study.arms]
            warm_kernels(configs, self._plan.prepared.views["train"], self._device, say)
        return bool(self._jobs)

    def jobs(self, grown: Callable[[], object]) -> JobSource:
        """A study grows from look to look, if it plans any."""
        if self._looks is None:
            return self._jobs

        def on_begin(jobs: Sequence[Job]) -> None:
            if self._display is not None:
                self._display.add(*self._lines(jobs))
            grown()

        return self._looks.jobs(on_begin)

    @contextmanager
    def display(self) -> Iterator[OnEvent]:
        """A line per running trial on a terminal, plain lines elsewhere."""
        with StudyDisplay(*self._lines(self._jobs)) as display:
            self._display, looks = display, self._looks

            def hear(event: Event) -> None:
                display(event)
                if looks is not None:
                    looks(event)

            try:
                yield hear
            finally:
                self._display = None

    def _lines(self, jobs: Sequence[Job]) -> tuple[dict[str, str], dict[str, int]]:
        """What trials are called, and their samples."""
        return {job.id: self._names[job.id] for job in jobs}, {job.id: job.config.training.samples for job in jobs}

    def info(self) -> StudyInfo:
        """See `Experiment`."""
        return study_info(self.study, self._due())

    def report(self) -> ReportedStudy:
        """See `Experiment`."""
        return report_study(self._workspace, self.study, "ablate")

    def failures(self, outcomes: list[TrialOutcome]) -> Iterator[str]:
        """Each with its traceback, and how many they are."""
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        for outcome in failed:
            trial = next(trial for trial in self.study.trials if trial.trial == outcome.trial)
            yield f"\n{trial.arm} on seed {trial.seed} (trial {trial.trial}) failed: {outcome.error}"
            if outcome.traceback:
                yield outcome.traceback
        if failed:
            yield f"{len(failed)} of {len(self.study.trials)} trials failed; the same command tries them again"
