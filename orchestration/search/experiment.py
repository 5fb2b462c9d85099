"""A search as an experiment whose list of jobs grows: each is asked for as a slot comes free, and stopped where it is
hopeless. Also its report, and `gonn search show`."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console

from ablations.search import Search, Tried
from gonn_core.errors import Damaged
from gonn_core.files.json_files import tell
from gonn_core.records.views import View
from gonn_core.trial.job import Job, RunSettings
from orchestration.console import notes, output
from orchestration.experiment.pipeline import Say
from orchestration.experiment.progress import StudyDisplay
from orchestration.experiment.settings import warm_kernels
from orchestration.experiment.stopping import everything_at_work
from orchestration.runners.base import OnEvent, TrialOutcome
from orchestration.search.optuna_rates import (
    all_searches,
    alone,
    find_search,
    keep_search,
    open_journal,
    tried_rates,
)
from orchestration.search.run import FAILURES, SearchRun
from orchestration.tracking.records import StudyInfo, StudyReport, search_info
from orchestration.tracking.reported import tracked_search
from reports.search.page import SearchFiles, sentences, table_of, write_search_report
from reports.search.report import search_report
from reports.tables.writers import TerminalTable
from reports.workspace import Workspace


@dataclass(frozen=True)
class ReportedSearch:
    """A report that was written."""

    files: SearchFiles

    @property
    def tracked(self) -> StudyReport:
        """What MLflow shows of it."""
        return tracked_search(self.files)

    def show(self, console: Console) -> None:
        """Print what the search found, and where the rest is."""
        report = self.files.report
        console.print(f"{report.search.id}: learning rate of {report.search.title}", style="bold")
        console.print(TerminalTable(table_of(report)))
        for sentence in sentences(report):
            console.print(sentence)
        console.print(f"report: {self.files.markdown}")


def report_search(workspace: Workspace, search: Search) -> ReportedSearch:
    """Write a search's report as it is now. Raises InputError when the disk does not take it."""
    return ReportedSearch(write_search_report(search_report(search, tried_rates(workspace, search)), workspace.out))


def show_search(beginning: str | None) -> None:
    """Print the report of a search; without an id list the searches and print the latest."""
    workspace = Workspace.here()
    searches = [find_search(workspace, beginning)] if beginning else all_searches(workspace)
    if not searches:
        output().print(f"no searches in {workspace.root / 'searches'}; make lr-search NAME=… runs one")
        return
    for search in searches[:-1]:
        report = search_report(search, tried_rates(workspace, search))
        rate = "no rate yet" if report.rate is None else f"{report.rate:g}"
        to_come = f", {report.unfinished} trials to come" if report.unfinished else ""
        output().print(f"{search.id}: {rate}{to_come}")
    report_search(workspace, searches[-1]).show(output())


def search_records(workspace: Workspace) -> list[tuple[StudyInfo, StudyReport]]:
    """What MLflow shows of every search and its report."""
    reported = []
    for search in all_searches(workspace):
        try:
            reported.append(report_search(workspace, search))
        except Damaged as damage:
            tell(damage, f"search {search.id} is left out")
    reports = [(written.files.report, written.tracked) for written in reported]
    return [(search_info(report.search, report.tried), tracked) for report, tracked in reports]


class SearchExperiment:
    """A learning-rate search of this workspace; see `Experiment`."""

    def __init__(self, workspace: Workspace, search: Search, settings: RunSettings, view: View):
        """settings: how its trials run; view: the training view."""
        self._workspace, self.settings, self._view = workspace, settings, view
        self.search = search
        self.id, self.size = search.id, search.trials

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Writes the search down, unless that was done before; one command of this machine runs it at a time."""
        self.search = keep_search(self._workspace, self.search)
        if any(command.what == self.id for command in everything_at_work(self._workspace)):
            notes().print(f"search {self.id}: another command runs it; this one waits", soft_wrap=True)
        with alone(self._workspace, self.search):
            self._optimiser = open_journal(self._workspace, self.search)
            self._unfinished = search_report(self.search, self._optimiser.tried()).unfinished
            yield

    def summary(self) -> str:
        """See `Experiment`."""
        low, high = self.search.rates
        trials = self.search.trials
        return (
            f"search {self.id}: {trials} trials, {trials - self._unfinished} of them done already; "
            f"rates {low:g} to {high:g}; data {self.search.coverage}"
        )

    def prepare(self, say: Say) -> bool:
        """See `Experiment`."""
        to_come = [f"to come {number}" for number in range(self._unfinished)]
        samples = self.search.config.training.samples
        self._display = StudyDisplay(dict.fromkeys(to_come, ""), dict.fromkeys(to_come, samples))
        self._run = SearchRun(self.search, self.settings, self._optimiser, self._display)
        if self._unfinished:
            warm_kernels([self.search.config], self._view, self.settings.device, say)
        return bool(self._unfinished)

    def jobs(self, grown: Callable[[], object]) -> Iterable[Job]:
        """Asked for as slots come free."""
        samples = self.search.config.training.samples

        def on_tried(tried: Tried) -> None:
            if to_come := [trial for trial in self._display.trials if trial.startswith("to come")]:
                del self._display.trials[to_come[0]]
            self._display.add({tried.trial: f"rate {tried.rate:.4g}"}, {tried.trial: samples})
            grown()

        return self._run.jobs(on_tried)

    @contextmanager
    def display(self) -> Iterator[OnEvent]:
        """The search listens to its events and forwards them to the display."""
        with self._display:
            yield self._run

    def info(self) -> StudyInfo:
        """See `Experiment`."""
        return search_info(self.search, self._optimiser.tried())

    def report(self) -> ReportedSearch:
        """See `Experiment`."""
        return report_search(self._workspace, self.search)

    def failures(self, outcomes: list[TrialOutcome]) -> Iterator[str]:
        """Failures that no rate caused."""
        for tried, error in self._run.failures:
            yield f"rate {tried.rate:.4g} (trial {tried.trial}) failed: {error}"
        if len(self._run.failures) >= FAILURES:
            yield (f"{FAILURES} trials failed, not for their rates: no more were begun; the same command resumes")
