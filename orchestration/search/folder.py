"""`searches/<id>/`: search.json (before the first trial) and journal.log (what was asked, and what became of it)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ablations.search import Search, Tried
from gonn_core.errors import Damaged
from gonn_core.files.locks import locked
from gonn_core.files.told import tell
from orchestration.experiment.folder import SEARCHES
from orchestration.search.journal import is_whole
from orchestration.search.optuna_rates import RateOptimiser
from reports.workspace import Workspace

search_folder = SEARCHES.folder
keep_search = SEARCHES.keep
all_searches = SEARCHES.whole
find_search = SEARCHES.find


def open_journal(workspace: Workspace, search: Search) -> RateOptimiser:
    """The search's journal, to be asked and told."""
    return RateOptimiser(search_folder(workspace, search.id) / "journal.log", search)


def tried_rates(workspace: Workspace, search: Search) -> list[Tried]:
    """The rates asked for so far; none before the first, and where the journal is missing, which is told."""
    folder = search_folder(workspace, search.id)
    if not (folder / "journal.log").exists():
        if (folder / SEARCHES.file).exists():
            again = "no rates are known; the same `gonn search run` asks for them again and finds its trials"
            tell(Damaged(folder / "journal.log", "it is missing"), again)
        return []
    return open_journal(workspace, search).tried()


@contextmanager
def alone(workspace: Workspace, search: Search) -> Iterator[None]:
    """While this is entered no other command of this machine runs the search; waits for one that does."""
    folder = search_folder(workspace, search.id)
    with locked(folder / ".lock"):
        _cut_damaged(folder / "journal.log", search)
        yield


def _cut_damaged(journal: Path, search: Search) -> None:
    """Take away what a machine that went down left of a last line, for Optuna could not read what comes after it; and
    all from a damaged line on: the same rates are asked for again, and those that were trained are found."""
    content = journal.read_bytes() if journal.exists() else b""
    whole = 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        if not is_whole(line, search.id):
            tell(Damaged(journal, f"damaged: line {number} is not what was written"), "the search goes on from there")
            break
        whole += len(line)
    if whole < len(content):
        os.truncate(journal, whole)
