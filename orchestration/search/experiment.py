"""A search as an experiment: its trials are asked for as slots come free, and given up where they are hopeless."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ablations.search import Search, Tried
from gonn_core.records.views import View
from gonn_core.trial.job import Job, RunSettings
from orchestration.experiment.pipeline import Say
from orchestration.runners.base import OnEvent, Outcome
from orchestration.runners.warm_up import warm_kernels
from orchestration.search.folder import alone, keep_search, open_journal, search_folder
from orchestration.search.progress import SearchDisplay
from orchestration.search.report import ReportedSearch, report_search
from orchestration.search.run import FAILURES, SearchRun
from orchestration.tracking.records import StudyInfo
from orchestration.tracking.search_records import search_info
from reports.search.report import search_report
from reports.workspace import Workspace


class SearchExperiment:
    """A learning-rate search of this workspace; see `Experiment`."""

    def __init__(self, workspace: Workspace, search: Search, settings: RunSettings, view: View):
        """settings: how its trials run; view: the training view."""
        self._workspace, self.settings, self._view = workspace, settings, view
        self.search = search
        self.id, self.folder, self.size = search.id, search_folder(workspace, search.id), search.trials

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Writes the search down, unless that was done before; one command of this machine runs it at a time."""
        self.search = keep_search(self._workspace, self.search)
        with alone(self._workspace, self.search):
            self._optimiser = open_journal(self._workspace, self.search)
            self._unfinished = search_report(self.search, self._tried()).unfinished
            yield

    def _tried(self) -> list[Tried]:
        return self._optimiser.tried()

    @property
    def _done(self) -> int:
        """Trials that needed no more work when it was opened."""
        return self.search.trials - self._unfinished

    def summary(self) -> str:
        """See `Experiment`."""
        low, high = self.search.rates
        return (
            f"search {self.id}: {self.search.trials} trials, {self._done} of them done already; "
            f"rates {low:g} to {high:g}; data {self.search.coverage}"
        )

    def prepare(self, say: Say) -> bool:
        """See `Experiment`."""
        self._display = SearchDisplay(self.search, self._done)
        self._run = SearchRun(self.search, self.settings, self._optimiser, self._display)
        if self._unfinished:
            warm_kernels([self.search.config], self._view, self.settings.device, say)
        return bool(self._unfinished)

    def jobs(self, grown: Callable[[], object]) -> Iterable[Job]:
        """Asked for as slots come free."""

        def on_tried(tried: Tried) -> None:
            self._display.begin(tried)
            grown()

        return self._run.jobs(on_tried)

    @contextmanager
    def display(self) -> Iterator[OnEvent]:
        """The search itself hears its events, and passes them on to the display."""
        with self._display:
            yield self._run

    def info(self) -> StudyInfo:
        """See `Experiment`."""
        return search_info(self.search, self._tried())

    def report(self) -> ReportedSearch:
        """See `Experiment`."""
        return report_search(self._workspace, self.search)

    def failures(self, outcomes: list[Outcome]) -> Iterator[str]:
        """Those that say nothing of a rate."""
        for tried, error in self._run.failures:
            yield f"rate {tried.rate:.4g} (trial {tried.trial}) failed: {error}"
        if len(self._run.failures) >= FAILURES:
            yield (f"{FAILURES} trials failed, not for their rates: no more were begun; the same command goes on")
