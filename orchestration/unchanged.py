"""Whether the reports over a whole workspace are still what they would be made into: by sizes and times of files, without reading one."""

import hashlib
import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import ablations
import gonn_core
import orchestration
import reports
from gonn_core.errors import InputError
from gonn_core.json_files import read_mapping
from orchestration.files import write_json
from orchestration.workspace import Workspace
from reports.study_notes import LOOKS_FILE

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
        """Whether nothing has changed since: no trial, study, search, match, declaration or line of code, nothing in out/; and nothing runs."""
        try:
            kept = read_mapping(self._path)
        except InputError:  # somebody else's file, or half of one
            return False
        if self._before is None or kept.get("format") != FORMAT or kept.get("inputs") != _inputs(self._workspace, looks=True):
            return False
        return kept.get("outputs") == _outputs(self._workspace)

    def keep(self) -> None:
        """Note that the reports were made, unless what they are made from changed meanwhile."""
        if self._before is not None and self._before == _inputs(self._workspace, looks=False):
            write_json(self._path, {"format": FORMAT, "inputs": _inputs(self._workspace, looks=True), "outputs": _outputs(self._workspace)})


def _inputs(workspace: Workspace, looks: bool) -> str | None:
    """Digest of all that reports are made from; None while a trial runs, which may end at any moment. `looks`: with how often results were looked at."""
    digest = hashlib.sha256(code())
    for name in _INPUTS:
        for path, about in _files(workspace.root / name):
            if path.endswith("/lease.json"):
                return None
            if looks or not path.endswith(LOOKS_FILE):
                digest.update(f"{path} {about}\n".encode())
    return digest.hexdigest()


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
