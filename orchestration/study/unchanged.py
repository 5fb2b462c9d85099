"""Whether reports are still what they would be made into: by sizes and times of what they are made from, by the content
of what was made."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ablations.study import Study
from gonn_core.files.json_files import read_mapping
from gonn_core.files.seals import file_digest
from reports import cache
from reports.results.speed_and_looks import LOOKS_FILE
from reports.workspace import Workspace

_SOURCES = ("studies", "searches", "runs", "matches", "elo")
_IGNORED = (".lock", ".tmp", ".verified")


class Unchanged:
    """Whether what lies in some places was made from what some folders hold, and lies there as it was made.

    To be created before anything in those folders is read.
    """

    def __init__(self, note: Path, sources: Sequence[Path], made: Sequence[Path]):
        """`note`: file that says so; `sources`: folders, in which looks.json does not count: a report is itself a look;
        `made`: files and folders."""
        self._note, self._made = note, made
        files = [file for folder in sources for file in _files(folder) if Path(file[0]).name != LOOKS_FILE]
        running = any(path.endswith("/lease.json") for path, *_ in files)  # a trial, which may end at any moment
        self._sources = None if running else cache.digest(files)

    def holds(self, other: object = None) -> bool:
        """Whether it is so; `other`: plain data that it was made from too."""
        return self._sources is not None and cache.read(self._note, self._inputs(other)) is not None

    def keep(self, other: object = None) -> None:
        """Note that it was made just now."""
        if self._sources is not None:
            cache.keep(self._note, self._inputs(other), b"")

    def _inputs(self, other: object) -> tuple:
        made = [(path, file_digest(Path(path))) for place in self._made for path, *_ in _files(place)]
        return code(), self._sources, other, made


def all_reports(workspace: Workspace) -> Unchanged:
    """The reports of all studies, that over everything, and the summary. What they say of looks is as they left it."""
    studies = sorted(path.parent for path in workspace.studies.glob("*/study.json"))
    made = [workspace.out / name for name in (*(study.name for study in studies), "report", "samples", "summary")]
    kept = [study / LOOKS_FILE for study in studies]
    sources = [workspace.root / name for name in _SOURCES]
    return Unchanged(workspace.report_cache / "all.report", sources, [*made, *kept])


def study_report(workspace: Workspace, study: Study) -> Unchanged:
    """One study's report, whatever happens to other studies."""
    trials = [workspace.runs / trial.trial for trial in study.trials]
    sources = [workspace.studies / study.id, workspace.matches, *trials]
    return Unchanged(workspace.report_cache / f"{study.id}.report", sources, [workspace.out / study.id])


def code() -> str:
    """What stands for the code and the declarations, ours and others'."""
    return cache.code("ablations", "gonn_core", "orchestration", "reports", libraries=("numpy", "scipy", "matplotlib"))


def _files(place: Path) -> Iterator[tuple[str, int, int]]:
    """A file, or every file below a folder in one order, with its size and time of change; none where there is none."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        yield str(place), *cache.file_stamp(place)
        return
    for entry in entries:
        if entry.is_dir():
            yield from _files(Path(entry.path))
        elif not entry.name.endswith(_IGNORED):
            about = entry.stat()
            yield entry.path, about.st_size, about.st_mtime_ns


def sentences(workspace: Workspace, study: str) -> list[str]:
    """What the report of a study says of each effect, as it was last made."""
    return [str(sentence) for sentence in read_mapping(workspace.out / study / "report.json").get("sentences", [])]
