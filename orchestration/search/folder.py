"""`searches/<id>/`: search.json (before the first trial) and journal.log (what was asked, and what became of it)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ablations.search import Search, Tried, read_search
from gonn_core.files.json_files import write_json
from gonn_core.files.locks import locked
from orchestration.search.optuna_rates import RateOptimiser
from orchestration.study.folder import latest_of
from orchestration.workspace import Workspace


def search_folder(workspace: Workspace, search_id: str) -> Path:
    """Folder of one search."""
    return workspace.root / "searches" / search_id


def keep_search(workspace: Workspace, search: Search) -> Search:
    """Write the search file unless it is there; the search as it was first written down."""
    path = search_folder(workspace, search.id) / "search.json"
    if not path.exists():
        write_json(path, search.model_dump(mode="json"))
    return read_search(path)


def all_searches(workspace: Workspace) -> list[Search]:
    """Searches of a workspace, the latest last."""
    searches = [read_search(path) for path in sorted((workspace.root / "searches").glob("*/search.json"))]
    return sorted(searches, key=lambda search: (search.created, search.id))


def find_search(workspace: Workspace, beginning: str, setting: str = "SEARCH") -> Search:
    """The search whose id begins so; of several, the latest. Raises SettingError (`setting`)."""
    return latest_of(
        all_searches(workspace), beginning, setting, "no such search", "none yet: make lr-search NAME=… makes one"
    )


def open_journal(workspace: Workspace, search: Search) -> RateOptimiser:
    """The search's journal, to be asked and told."""
    return RateOptimiser(search_folder(workspace, search.id) / "journal.log", search)


def tried_rates(workspace: Workspace, search: Search) -> list[Tried]:
    """The rates asked for so far; none before the first."""
    if not (search_folder(workspace, search.id) / "journal.log").exists():
        return []
    return open_journal(workspace, search).tried()


@contextmanager
def alone(workspace: Workspace, search: Search) -> Iterator[None]:
    """While this is entered no other command of this machine runs the search; waits for one that does."""
    folder = search_folder(workspace, search.id)
    with locked(folder / ".lock"):
        _cut_half_line(folder / "journal.log")
        yield


def _cut_half_line(journal: Path) -> None:
    """Take away what a machine that went down left of a last line: Optuna could not read what comes after it."""
    content = journal.read_bytes() if journal.exists() else b""
    if not content.endswith(b"\n") and content:
        os.truncate(journal, content.rfind(b"\n") + 1)
