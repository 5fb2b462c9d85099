"""Whether the reports over a whole workspace are still what they would be made into: by sizes and times of files,
without reading one."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import ablations
import gonn_core
import orchestration
import reports
from ablations.study import Study
from gonn_core.errors import InputError
from gonn_core.files.json_files import read_mapping, write_json
from orchestration.workspace import Workspace
from reports.results.speed_and_looks import LOOKS_FILE
from reports.weights.cache import keep

FORMAT = 1
_INPUTS = ("studies", "searches", "runs", "matches", "elo")
_IGNORED = (".lock", ".tmp")
_CODE = (".py", ".yaml", ".j2", ".json", ".npz")


class ReportNote:
    """What the last report over everything was made from, and what it left in out/."""

    def __init__(self, workspace: Workspace):
        """Looks at the workspace as it is now: to be made before the reports are."""
        self._workspace = workspace
        self._path = workspace.sums / "report.json"
        self._before = _inputs(workspace, looks=False)

    def holds(self) -> bool:
        """Whether nothing has changed since: no trial, study, search, match, declaration or line of code, nothing in
        out/; and nothing runs."""
        try:
            kept = read_mapping(self._path)
        except InputError:  # somebody else's file, or half of one
            return False
        if (
            self._before is None
            or kept.get("format") != FORMAT
            or kept.get("inputs") != _inputs(self._workspace, looks=True)
        ):
            return False
        return kept.get("outputs") == _outputs(self._workspace)

    def keep(self) -> None:
        """Note that the reports were made, unless what they are made from changed meanwhile."""
        if self._before is not None and self._before == _inputs(self._workspace, looks=False):
            write_json(
                self._path,
                {
                    "format": FORMAT,
                    "inputs": _inputs(self._workspace, looks=True),
                    "outputs": _outputs(self._workspace),
                },
            )


class StudyNote:
    """The same of one study's report, whatever happens to other studies."""

    def __init__(self, workspace: Workspace, study: Study):
        """Looks at the study as it is now: to be made before its results are read."""
        self._path, self._out = workspace.sums / f"{study.id}.report", workspace.out / study.id
        self._inputs = _study_inputs(workspace, study)

    def holds(self, about: str) -> bool:
        """Whether the report was made from the same files and from what `about` stands for (not in the study's files),
        and lies there as it was made."""
        with suppress(OSError):
            return self._inputs is not None and self._path.read_text(encoding="utf-8") == self._text(about)
        return False

    def keep(self, about: str) -> None:
        """Note that the report was made."""
        if self._inputs is not None:
            keep(self._path, self._text(about).encode())

    def _text(self, about: str) -> str:
        outputs = "\n".join(f"{path} {stamp}" for path, stamp in _files(self._out))
        return hashlib.sha256(f"{FORMAT}\n{self._inputs}\n{about}\n{outputs}".encode()).hexdigest() + "\n"


def _study_inputs(workspace: Workspace, study: Study) -> str | None:
    """Digest of the files that a study's report is made from but for its looks; None while one of its trials runs."""
    digest = hashlib.sha256(code())
    for folder in (
        workspace.studies / study.id,
        workspace.matches,
        *(workspace.runs / trial.trial for trial in study.trials),
    ):
        for path, about in _files(folder):
            if path.endswith("/lease.json"):
                return None
            if not path.endswith(LOOKS_FILE):
                digest.update(f"{path} {about}\n".encode())
    return digest.hexdigest()


def _inputs(workspace: Workspace, looks: bool) -> str | None:
    """Digest of all that reports are made from; None while a trial runs, which may end at any moment. `looks`: with how
    often results were looked at."""
    digest = hashlib.sha256(code())
    for name in _INPUTS:
        for path, about in _files(workspace.root / name):
            if path.endswith("/lease.json"):
                return None
            if looks or not path.endswith(LOOKS_FILE):
                digest.update(f"{path} {about}\n".encode())
    return digest.hexdigest()


@cache
def code() -> bytes:
    """What stands for the code and the declarations, ours and others'."""
    parts = [version(name) for name in ("numpy", "scipy", "matplotlib")]
    for package in (ablations, gonn_core, orchestration, reports):
        parts += [f"{path} {about}" for path, about in _files(Path(package.__file__).parent) if path.endswith(_CODE)]
    return "\n".join(parts).encode()


def _outputs(workspace: Workspace) -> str:
    """Digest of the reports of all studies, of that over everything, and of the summary."""
    digest = hashlib.sha256()
    for name in sorted([path.parent.name for path in workspace.studies.glob("*/study.json")]) + ["report", "summary"]:
        for path, about in _files(workspace.out / name):
            digest.update(f"{path} {about}\n".encode())
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder with its size and time of change, in one order."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir():
            yield from _files(Path(entry.path))
        elif not entry.name.endswith(_IGNORED):
            about = entry.stat()
            yield entry.path, f"{about.st_size} {about.st_mtime_ns}"


def sentences(workspace: Workspace, study: str) -> list[str]:
    """What the report of a study says of each effect, as it was last made."""
    found = read_mapping(workspace.out / study / "report.json").get("sentences", [])
    return [str(sentence) for sentence in found]
