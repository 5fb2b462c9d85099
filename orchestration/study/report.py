"""One study's report: written to out/<study>/, shown on the terminal, handed to MLflow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import printable
from gonn_core.files.json_files import read_mapping
from gonn_core.play.match.record import Match, load_matches
from orchestration.study.folder import all_studies, count_look, study_folder
from orchestration.study.unchanged import Unchanged, study_report
from orchestration.tracking.records import StudyReport
from orchestration.tracking.reported import tracked_study
from reports.results.decisions import load_results
from reports.results.group import Groups
from reports.results.study_results import StudyResults
from reports.study.render import ReportFiles, print_report, write_report
from reports.workspace import Workspace
from reports.worth.controls import Controls


@dataclass(frozen=True)
class ReportedStudy:
    """A report that was written."""

    files: ReportFiles
    tracked: StudyReport
    anew: bool = True
    """Whether it was made now; otherwise its files say what they said."""

    def show(self, console: Console) -> None:
        """Print the tables, of a report that is as it was only what it says in sentences, and where the rest is."""
        if self.anew:
            print_report(self.files.report, console)
        else:
            for sentence in read_mapping(self.files.data)["sentences"]:
                console.print(Text(printable(str(sentence), 400)))
        console.print(f"report: {_near(self.files.html)}")


class Reporter:
    """Makes reports of a workspace's studies; what several of them need is read once."""

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._read: dict[str, tuple[Unchanged, StudyResults]] = {}
        self._studies = all_studies(workspace)
        self._groups = Groups(self._studies, self._load)

    @cached_property
    def registry(self) -> Registry:
        """The declarations."""
        return load_registry()

    @cached_property
    def _played(self) -> tuple[Match, ...]:
        return tuple(load_matches(self._workspace.matches))

    @cached_property
    def controls(self) -> Controls:
        """Loss over samples of the controls of all studies."""
        return Controls(self._studies, self._load)

    def _load(self, study: Study) -> StudyResults:
        """Results of a study, read once."""
        if study.id not in self._read:
            workspace = self._workspace
            unchanged, folder = study_report(workspace, study), study_folder(workspace, study.id)
            self._read[study.id] = unchanged, load_results(study, workspace.runs, folder, workspace.report_cache)
        return self._read[study.id][1]

    def report(self, study: Study, command: str, look: bool = True, anew: bool = True) -> ReportedStudy:
        """Analyse a study's trials as they are now and write its report. `look`: whether somebody is shown the test
        results by it; `anew`: also where its own trials and games are those of the report that is there, which keeps
        what it said."""
        workspace, results = self._workspace, replace(self._load(study), played=self._played)
        unchanged = self._read[study.id][0]
        if look:
            unfinished = {trial.id for trial in results.unfinished}
            finished = [trial.id for trial in results.trials if trial.id not in unfinished]
            results = replace(results, look_counts=count_look(workspace, study, finished, command))
        group, curve = self._groups.of(study), self.controls.of(study)
        anew = anew or not unchanged.holds(results.look_counts)
        files = write_report(study, results, workspace.out, self.registry, group, workspace.report_cache, curve, anew)
        if anew:
            unchanged.keep(results.look_counts)
        return ReportedStudy(files, tracked_study(files), anew)


SAMPLES = "samples"
"""Folder of the page on losses and effects over samples, below out/."""


def report_samples(workspace: Workspace, studies: Sequence[Study], console: Console) -> None:
    """Reports of studies at several numbers of samples, which they now all have, and the page over them; its tables are
    shown."""
    from reports.book.samples import write_samples  # with matplotlib
    from reports.tables.writers import TerminalTable

    reporter = Reporter(workspace)
    reports = [reporter.report(study, "samples", look=False).files.report for study in studies]
    curves = (reporter.controls.of(study) for study in studies)
    written = write_samples(reports, curves, workspace.out / SAMPLES, workspace.report_cache)
    if written is None:
        return
    path, tables = written
    for table in tables:
        console.print(Text(printable(table.title, 300), style="bold"))
        console.print(TerminalTable(table))
    console.print(f"losses and effects over samples: {_near(path)}")


def report_study(workspace: Workspace, study: Study, command: str, look: bool = True) -> ReportedStudy:
    """The report of one study: see `Reporter`."""
    return Reporter(workspace).report(study, command, look)


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
