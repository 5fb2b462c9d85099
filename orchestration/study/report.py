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
from gonn_core.rating.matches import Match, load_matches
from orchestration.study.folder import count_look, keep_noise, study_folder
from orchestration.study.unchanged import Unchanged, study_report
from orchestration.tracking.records import StudyReport
from orchestration.tracking.study_records import tracked_report
from reports.results.seed_pool import StudyShelf
from reports.results.study_results import StudyResults, load_results
from reports.study.render import ReportFiles, write_report, written_report
from reports.study.terminal import print_report
from reports.workspace import Workspace
from reports.worth.controls import Controls
from reports.worth.elsewhere import OverSamples, effects_elsewhere


@dataclass(frozen=True)
class ReportedStudy:
    """A report that was written."""

    files: ReportFiles
    tracked: StudyReport
    anew: bool = True
    """Whether it was made now; it is not where it would say what it says already."""

    def show(self, console: Console) -> None:
        """Print the tables, of a report that is as it was only what it says in sentences, and where the rest is."""
        if self.anew:
            print_report(self.files.report, console)
        else:
            for sentence in self.files.report.sentences:
                console.print(Text(printable(sentence, 400)))
        console.print(f"report: {_near(self.files.html)}")


class Reporter:
    """Makes reports of a workspace's studies; what several of them need is read once."""

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._read: dict[str, tuple[Unchanged, StudyResults]] = {}
        self._shelf = StudyShelf(workspace.studies, self._for_pool)

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
        return Controls(self._shelf.studies, self._for_pool)

    def _load(self, study: Study) -> tuple[Unchanged, StudyResults]:
        """Results of a study, and how its files were before they were read."""
        workspace = self._workspace
        unchanged, folder = study_report(workspace, study), study_folder(workspace, study.id)
        return unchanged, load_results(study, workspace.runs, folder, workspace.report_cache)

    def _for_pool(self, study: Study) -> StudyResults:
        """Results of a study of which another one's pool wants the noise; they serve for its own report next."""
        if study.id not in self._read:
            self._read[study.id] = self._load(study)
        return self._read[study.id][1]

    def report(self, study: Study, command: str, look: bool = True, anew: bool = True) -> ReportedStudy:
        """Analyse a study's trials as they stand and write its report. `look`: whether somebody is shown the test
        results by it; `anew`: also where it would be what lies there already."""
        workspace = self._workspace
        unchanged, results = self._read.pop(study.id) if study.id in self._read else self._load(study)
        results = replace(results, played=self._played)
        if look:
            unfinished = {trial.id for trial in results.unfinished}
            finished = [trial.id for trial in results.trials if trial.id not in unfinished]
            results = replace(results, look_counts=count_look(workspace, study, finished, command))
        prior = keep_noise(workspace, study, self._shelf.pool(study), not results.unfinished)
        elsewhere = effects_elsewhere(study, self._shelf.studies, self._shelf.table)
        scaled = OverSamples(self.controls.of(study), elsewhere)
        other = results.look_counts, prior, scaled
        anew = anew or not unchanged.holds(other)
        if anew:
            files = write_report(study, results, workspace.out, self.registry, prior, workspace.report_cache, scaled)
            unchanged.keep(other)
        else:
            files = written_report(study, results, workspace.out, self.registry, prior, scaled)
        return ReportedStudy(files, tracked_report(files), anew)


SAMPLES = "samples"
"""Folder of the page on losses and effects over samples, below out/."""


def report_samples(workspace: Workspace, studies: Sequence[Study], console: Console) -> None:
    """Reports of studies at several numbers of samples, which they now all have, and the page over them; its tables are
    shown."""
    from reports.scaling.page import write_samples  # with matplotlib
    from reports.tables.terminal import rich_table

    reporter = Reporter(workspace)
    reports = [reporter.report(study, "samples", look=False).files.report for study in studies]
    curves = (reporter.controls.of(study) for study in studies)
    written = write_samples(reports, curves, workspace.out / SAMPLES, workspace.report_cache)
    if written is None:
        return
    path, tables = written
    for table in tables:
        console.print(Text(printable(table.title, 300), style="bold"))
        console.print(rich_table(table))
    console.print(f"losses and effects over samples: {_near(path)}")


def report_study(workspace: Workspace, study: Study, command: str, look: bool = True) -> ReportedStudy:
    """The report of one study: see `Reporter`."""
    return Reporter(workspace).report(study, command, look)


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
