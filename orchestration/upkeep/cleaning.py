"""`gonn clean`: what no study, search, match or committed job refers to; shown first, removed only when asked.

What this program did not plainly write stays: links, and folders whose names or files are none that a command writes.
"""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.filesize import decimal
from rich.table import Table

from gonn_core.errors import printable
from gonn_core.files.json_files import expected, read_json
from gonn_core.play.match.record import load_matches
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import read_job
from gonn_core.trial.lease import Lease, LeaseHeld
from orchestration.console import output
from orchestration.experiment.folder import SEARCHES, STUDIES
from orchestration.experiment.settings import ROOT
from orchestration.search.optuna_rates import tried_rates
from reports.workspace import Workspace

_REMOVING = ".removing-"
_OLD_SECONDS = 86400.0
_TRIAL = re.compile(r"[0-9a-f]{16}")


def clean(yes: bool) -> int:
    """Print what is unused with its size; remove it when `yes`. Trials that a process works on are never among it."""
    workspace, console = Workspace.here(), output()
    folders = unused(workspace)
    if not folders:
        console.print("nothing to remove: every trial and report belongs to a study, a search, a match or the queue")
        return 0
    files_in = {
        path: [file for file in path.rglob("*") if file.is_file() and not file.is_symlink()] for path in folders
    }
    sizes = {path: sum(file.stat().st_size for file in files) for path, files in files_in.items()}
    table = Table("folder", "what", "size", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[2].justify = "right"
    for path, what in folders.items():
        table.add_row(str(path.relative_to(workspace.root)), what, decimal(sizes[path]))
    console.print(table)
    if not yes:
        total = decimal(sum(sizes.values()))
        console.print(f"{len(folders)} folders, {total}; nothing was removed. gonn clean --yes removes them")
        return 0
    removed = [path for path in folders if _remove(path)]
    console.print(f"{len(removed)} folders removed, {decimal(sum(sizes[path] for path in removed))}")
    for path in folders.keys() - set(removed):
        console.print(f"{path}: kept, a command has begun to work on it")
    return 0


def unused(workspace: Workspace) -> dict[Path, str]:
    """Folders of trials and reports to which no study, search, match or committed job refers, each with what it is.

    Raises UserError for a study, a search, a match or a job that cannot be read: what it refers to is not known.
    """
    studies, searches = STUDIES.all(workspace), SEARCHES.all(workspace)
    search_ids = {search.id for search in searches}
    referred = {trial.trial for study in studies for trial in study.trials}
    # also a trial of a search that a study trained first
    referred |= {tried.trial for search in searches for tried in tried_rates(workspace, search)}
    names = [path.parent.name for path in expected(workspace.matches, "match.json")]  # also those that are damaged
    players = [player for match in load_matches(workspace.matches, names) for player in match.players.values()]
    referred |= {player["trial"] for player in players if player.get("kind") == "net"} | committed_jobs()
    return dict(_trials(workspace, referred, search_ids)) | dict(
        _reports(workspace, {study.id for study in studies} | search_ids)
    )


def committed_jobs() -> set[str]:
    """Ids of the trials whose job files are committed next to the results in the code's checkout: they are queued to
    run. Raises UserError for one that cannot be read."""
    files = (path for path in (ROOT / "results").glob("*/jobs/*.json") if not path.name.endswith(".recipe.json"))
    return {read_job(path).id for path in files}


def _trials(workspace: Workspace, referred: set[str], searches: set[str]) -> Iterator[tuple[Path, str]]:
    """Trial directories that are not used."""
    for path in _folders(workspace.runs):
        if path.name.startswith(_REMOVING):
            yield path, "half removed"
        elif path.name.startswith(".gonn-ray-") and time.time() - path.stat().st_mtime > _OLD_SECONDS:
            yield path, "Ray's notes of a command that was killed"
        elif _TRIAL.fullmatch(path.name):
            labels, state = _labels(path), TrialDirectory(path).state()
            if path.name not in referred and labels.get("search") not in searches and state != "running":
                origin = ", ".join(str(labels[name]) for name in ("study", "search", "base", "arm") if name in labels)
                yield path, f"trial of no study, {state}" + f" ({printable(origin, 60)})" * bool(origin)


def _labels(path: Path) -> dict:
    """Labels in config.json; empty when there are none that can be read."""
    try:
        return dict(json.loads((path / "config.json").read_text(encoding="utf-8"))["labels"])
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return {}


def _reports(workspace: Workspace, known: set[str]) -> Iterator[tuple[Path, str]]:
    """Reports of studies that are gone, and boards of trials that are."""
    for path in _folders(workspace.out):
        if path.name not in known and (path / "report.json").is_file() and (path / "manifest.json").is_file():
            tree = read_json(path / "report.json")
            if isinstance(tree, dict) and isinstance(tree.get("study"), dict) and tree["study"].get("id") == path.name:
                yield path, "report of a study that is gone"
    for path in _folders(workspace.out / "probes"):
        if _TRIAL.fullmatch(path.name) and not (workspace.runs / path.name).exists():
            yield path, "boards of a trial that is gone"


def _folders(parent: Path) -> list[Path]:
    """The folders in a folder that are no links, by name; none where it is not there."""
    children = parent.iterdir() if parent.is_dir() else ()
    return sorted(path for path in children if path.is_dir() and not path.is_symlink())


def _remove(path: Path) -> bool:
    """Rename a folder, then remove it; False for a trial that a process has begun to work on."""
    gone = path.with_name(f"{_REMOVING}{path.name.removeprefix(_REMOVING)[:16]}-{secrets.token_hex(4)}")
    if _TRIAL.fullmatch(path.name):
        try:
            with Lease.take(path):
                os.rename(path, gone)
        except LeaseHeld:
            return False
    else:
        os.rename(path, gone)
    shutil.rmtree(gone)
    return True
