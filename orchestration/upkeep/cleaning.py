"""`gonn clean`: what no study, search, match or committed job refers to; shown first, removed only when told so.

Whatever is not plainly of our making stays: links, and folders whose names or files are none that a command writes.
"""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
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
from orchestration.gitinfo import ROOT
from orchestration.search.optuna_rates import tried_rates
from reports.workspace import Workspace

_REMOVING = ".removing-"
_OLD_SECONDS = 86400.0
_TRIAL, _DIGEST = re.compile(r"[0-9a-f]{16}"), re.compile(r"[0-9a-f]{20}")


@dataclass(frozen=True)
class Unused:
    """A folder that nothing refers to."""

    path: Path
    what: str
    bytes: int


def clean(yes: bool, stores: bool) -> int:
    """Print what is unused with its size; remove it when `yes`. Trials that somebody works on are never among it."""
    workspace, console = Workspace.here(), output()
    folders = unused(workspace, stores)
    if not folders:
        console.print("nothing to remove: every trial and report belongs to a study, a search, a match or the queue")
        return 0
    table = Table("folder", "what", "size", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[2].justify = "right"
    for folder in folders:
        table.add_row(str(folder.path.relative_to(workspace.root)), folder.what, decimal(folder.bytes))
    console.print(table)
    if not yes:
        total, command = decimal(sum(folder.bytes for folder in folders)), "gonn clean --yes" + " --stores" * stores
        console.print(f"{len(folders)} folders, {total}; nothing was removed. {command} removes them")
        return 0
    removed = [folder for folder in folders if _remove(folder.path)]
    console.print(f"{len(removed)} folders removed, {decimal(sum(folder.bytes for folder in removed))}")
    for folder in folders:
        if folder not in removed:
            console.print(f"{folder.path}: kept, a command has begun to work on it")
    return 0


def unused(workspace: Workspace, stores: bool = False) -> list[Unused]:
    """Folders of trials and reports, and of stores and views when asked, to which no study, search, match or committed
    job refers.

    Raises UserError for a study, a search, a match or a job that cannot be read: what it refers to is not known.
    """
    studies, searches = STUDIES.all(workspace), SEARCHES.all(workspace)
    search_ids = {search.id for search in searches}
    referred = {trial.trial for study in studies for trial in study.trials}
    # also a trial of a search that a study trained first
    referred |= {tried.trial for search in searches for tried in tried_rates(workspace, search)}
    referred |= _players(workspace) | committed_jobs()
    trials = list(_trials(workspace, referred, search_ids))
    unwanted = [Unused(path, what, _bytes(path)) for path, what in trials if what is not None]
    unwanted += _reports(workspace, {study.id for study in studies} | search_ids)
    if stores:
        configs = [config for path, what in trials if what is None and (config := _config(path)) is not None]
        unwanted += _stores(workspace, studies, configs)
    return unwanted


def committed_jobs() -> set[str]:
    """Ids of the trials whose job files are committed beside the results in the code's checkout: somebody is to run
    them. Raises UserError for one that cannot be read."""
    files = (path for path in (ROOT / "results").glob("*/jobs/*.json") if not path.name.endswith(".recipe.json"))
    return {read_job(path).id for path in files}


def _players(workspace: Workspace) -> set[str]:
    """Trials whose nets have played games, those of ladders among them."""
    names = [path.parent.name for path in expected(workspace.matches, "match.json")]  # also those that are damaged
    players = [player for match in load_matches(workspace.matches, names) for player in match.players.values()]
    return {player["trial"] for player in players if player.get("kind") == "net"}


def _trials(workspace: Workspace, referred: set[str], searches: set[str]) -> Iterator[tuple[Path, str | None]]:
    """Every trial directory, and what it is when it is unused; None when it is used."""
    for path in _folders(workspace.runs):
        if path.name.startswith(_REMOVING):
            yield path, "half removed"
        elif path.name.startswith(".gonn-ray-") and time.time() - path.stat().st_mtime > _OLD_SECONDS:
            yield path, "Ray's notes of a command that was killed"
        elif _TRIAL.fullmatch(path.name):
            labels = (_config(path) or {}).get("labels")
            labels = labels if isinstance(labels, dict) else {}
            state = TrialDirectory(path).state()
            used = path.name in referred or labels.get("search") in searches or state == "running"
            origin = ", ".join(str(labels[name]) for name in ("study", "search", "base", "arm") if name in labels)
            yield path, None if used else f"trial of no study, {state}" + f" ({printable(origin, 60)})" * bool(origin)


def _config(path: Path) -> dict | None:
    """config.json as a tree; None when there is none that can be read."""
    try:
        tree = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


def _reports(workspace: Workspace, known: set[str]) -> Iterator[Unused]:
    """Reports of studies that are gone, and boards of trials that are."""
    for path in _folders(workspace.out):
        if path.name not in known and (path / "report.json").is_file() and (path / "manifest.json").is_file():
            tree = read_json(path / "report.json")
            if isinstance(tree, dict) and isinstance(tree.get("study"), dict) and tree["study"].get("id") == path.name:
                yield Unused(path, "report of a study that is gone", _bytes(path))
    for path in _folders(workspace.out / "probes"):
        if _TRIAL.fullmatch(path.name) and not (workspace.runs / path.name).exists():
            yield Unused(path, "boards of a trial that is gone", _bytes(path))


def _stores(workspace: Workspace, studies, configs: list[dict]) -> Iterator[Unused]:
    """Stores that no trial in use was trained from, and views that neither it nor a study names; both can be built
    again."""
    names, views = set(), set()
    for config in configs:
        run = config.get("run", {})
        names.add(Path(str(run.get("store"))).name)
        views |= {
            config["config"]["data"].get("view"),
            run.get("progress_view"),
            *(request.get("view") for request in run.get("evaluations", ())),
        }
    for study in studies:
        views |= {evaluation.view for evaluation in study.evaluations} | {arm.config.data.view for arm in study.arms}
    for path in _folders(workspace.stores):
        if _DIGEST.fullmatch(path.name) and path.name not in names and (path / "manifest.json").is_file():
            yield Unused(path, "position store of no trial", _bytes(path))
    for path in _folders(workspace.stores / "views"):
        if (path / "views.json").is_file() and not views & set(read_json(path / "views.json")["digests"].values()):
            yield Unused(path, "views of no trial", _bytes(path))


def _folders(parent: Path) -> list[Path]:
    """The folders in a folder that are no links, by name; none where it is not there."""
    if not parent.is_dir():
        return []
    return sorted(path for path in parent.iterdir() if path.is_dir() and not path.is_symlink())


def _remove(path: Path) -> bool:
    """Take a folder out of sight by one rename, then remove it; False for a trial that somebody has begun to work
    on."""
    gone = path.with_name(f"{_REMOVING}{path.name.removeprefix(_REMOVING)[:16]}-{secrets.token_hex(4)}")
    if _TRIAL.fullmatch(path.name):
        try:
            with Lease.take(path):  # whoever works on it, or is about to, keeps it
                os.rename(path, gone)
        except LeaseHeld:
            return False
    else:
        os.rename(path, gone)
    shutil.rmtree(gone)
    return True


def _bytes(path: Path) -> int:
    """Bytes of the files below a folder, without links."""
    files = (file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    return sum(file.stat(follow_symlinks=False).st_size for file in files)
