"""One search's report: written to out/<search>/, shown on the terminal, handed to MLflow."""

from dataclasses import dataclass, replace

from rich.console import Console

from ablations.search import Search
from orchestration.search.folder import open_journal, tried_rates
from orchestration.tracking.records import StudyReport
from orchestration.tracking.search_records import tracked_report
from reports.files import write_files
from reports.search.page import SearchFiles, sentences, table_of, write_search_report
from reports.search.report import search_report
from reports.tables.terminal import rich_table
from reports.workspace import Workspace


@dataclass(frozen=True)
class ReportedSearch:
    """A report that was written."""

    files: SearchFiles

    @property
    def tracked(self) -> StudyReport:
        """What MLflow shows of it."""
        return tracked_report(self.files)

    def show(self, console: Console) -> None:
        """Print what the search found, and where the rest is."""
        report = self.files.report
        console.print(f"{report.search.id}: learning rate of {report.search.title}", style="bold")
        console.print(rich_table(table_of(report)))
        for sentence in sentences(report):
            console.print(sentence)
        console.print(f"report: {self.files.markdown}")


def report_search(workspace: Workspace, search: Search) -> ReportedSearch:
    """Write a search's report as it stands, with Optuna's plots beside it. Raises InputError when the disk does not
    take it."""
    tried = tried_rates(workspace, search)
    files = write_search_report(search_report(search, tried), workspace.out)
    plots = open_journal(workspace, search).plots() if tried else {}
    folder = files.markdown.parent
    write_files(folder, plots)
    return ReportedSearch(replace(files, figures=(*files.figures, *(folder / name for name in plots))))
