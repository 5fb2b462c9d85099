"""One study's report: written to out/<study>/, shown on the terminal, handed to MLflow."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import printable
from gonn_core.files.json_files import read_mapping
from gonn_core.files.seals import file_digest
from gonn_core.play.match.record import Match, load_matches
from orchestration.study.folder import all_studies, count_look, study_folder
from orchestration.tracking.records import StudyReport
from orchestration.tracking.reported import tracked_study
from reports import cache
from reports.results.decisions import load_results
from reports.results.group import Groups
from reports.results.study_results import LOOKS_FILE, StudyResults
from reports.study.render import ReportFiles, print_report, write_report
from reports.workspace import Workspace
from reports.worth.effects import Controls


@dataclass(frozen=True)
class ReportedStudy:
    """A report that was written."""

    files: ReportFiles
    tracked: StudyReport
    is_new: bool = True
    """Whether it was made now; otherwise its files are unchanged."""

    def show(self, console: Console) -> None:
        """Print the tables, or the sentences of an unchanged report, and where the rest is."""
        if self.is_new:
            print_report(self.files.report, console)
        else:
            for sentence in read_mapping(self.files.data)["sentences"]:
                console.print(Text(printable(str(sentence), 400)))
        console.print(f"report: {_near(self.files.html)}")


_IGNORED = (".lock", ".tmp", ".verified")


class ReportNote:
    """Notes that a study's report was made from what its folders hold: by sizes and mtimes of its sources, by the
    content of its files. Created before anything in those folders is read."""

    def __init__(self, workspace: Workspace, study: Study):
        self._note, self._made = workspace.report_cache / f"{study.id}.report", workspace.out / study.id
        trials = (workspace.runs / trial.trial for trial in study.trials)
        folders = [workspace.studies / study.id, workspace.matches, *trials]
        # A report is itself a look: looks.json does not count.
        files = [file for folder in folders for file in _files(folder) if Path(file[0]).name != LOOKS_FILE]
        running = any(path.endswith("/lease.json") for path, *_ in files)  # a trial, which may end at any moment
        self._sources = None if running else cache.digest(files)

    def holds(self, other: object = None) -> bool:
        """Whether the report is unchanged; `other`: plain data that it was made from too."""
        return self._sources is not None and cache.read(self._note, self._inputs(other)) is not None

    def keep(self, other: object = None) -> None:
        """Note that it was made just now."""
        if self._sources is not None:
            cache.keep(self._note, self._inputs(other), b"")

    def _inputs(self, other: object) -> tuple:
        made = [(path, file_digest(Path(path))) for path, *_ in _files(self._made)]
        return code(), self._sources, other, made


def code() -> str:
    """Stands for the code and the declarations, ours and the libraries'."""
    return cache.code("ablations", "gonn_core", "orchestration", "reports", libraries=("numpy", "scipy", "matplotlib"))


def _files(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Every file below a folder in one order, with its size and mtime."""
    if not folder.is_dir():
        return
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(Path(entry.path))
        elif not entry.name.endswith(_IGNORED):
            about = entry.stat()
            yield entry.path, about.st_size, about.st_mtime_ns


class Reporter:
    """Makes reports of a workspace's studies; what several of them need is read once."""

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._read: dict[str, tuple[ReportNote, StudyResults]] = {}
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
            note, folder = ReportNote(workspace, study), study_folder(workspace, study.id)
            self._read[study.id] = note, load_results(study, workspace.runs, folder, workspace.report_cache)
        return self._read[study.id][1]

    def report(self, study: Study, command: str, look: bool = True, anew: bool | None = True) -> ReportedStudy:
        """Analyse a study's trials as they are now and write its report. look: whether the user sees its test results;
        anew: whether to write it; None: only when the present one has changed."""
        workspace, results = self._workspace, replace(self._load(study), played=self._played)
        note = self._read[study.id][0]
        if look:
            unfinished = {trial.id for trial in results.unfinished}
            finished = [trial.id for trial in results.trials if trial.id not in unfinished]
            results = replace(results, look_counts=count_look(workspace, study, finished, command))
        group, curve = self._groups.of(study), self.controls.of(study)
        if anew is None:
            anew = not note.holds(results.look_counts)
        files = write_report(study, results, workspace.out, self.registry, group, workspace.report_cache, curve, anew)
        if anew:
            note.keep(results.look_counts)
        return ReportedStudy(files, tracked_study(files), anew)


SAMPLES = "samples"
"""Folder of the page on losses and effects over samples, below out/."""


def report_samples(workspace: Workspace, studies: Sequence[Study], console: Console) -> None:
    """Reports of studies at several numbers of samples, which they now all have, and the page over them; its tables are
    shown."""
    from reports.book.samples import write_samples  # with matplotlib
    from reports.tables.writers import print_table

    reporter = Reporter(workspace)
    reports = [reporter.report(study, "samples", look=False).files.report for study in studies]
    curves = (reporter.controls.of(study) for study in studies)
    written = write_samples(reports, curves, workspace.out / SAMPLES, workspace.report_cache)
    if written is None:
        return
    path, tables = written
    for table in tables:
        print_table(table, console)
    console.print(f"losses and effects over samples: {_near(path)}")


def report_study(workspace: Workspace, study: Study, command: str, look: bool = True) -> ReportedStudy:
    """The report of one study: see `Reporter`."""
    return Reporter(workspace).report(study, command, look)


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
