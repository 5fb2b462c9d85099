"""`searches/<id>/`: search.json (before the first trial) and journal.log (what was asked, and what became of it)."""

from collections.abc import Iterator
from contextlib import contextmanager

from ablations.search import Search, Tried
from gonn_core.errors import Damaged
from gonn_core.files.json_files import tell
from gonn_core.files.whole import locked
from orchestration.experiment.folder import SEARCHES
from orchestration.search.optuna_rates import RateOptimiser, cut_damaged
from reports.workspace import Workspace

search_folder = SEARCHES.folder
keep_search = SEARCHES.keep
all_searches = SEARCHES.whole
find_search = SEARCHES.find


def open_journal(workspace: Workspace, search: Search) -> RateOptimiser:
    """The search's journal, to ask for rates and report to."""
    return RateOptimiser(search_folder(workspace, search.id) / "journal.log", search)


def tried_rates(workspace: Workspace, search: Search) -> list[Tried]:
    """The rates asked for so far; none before the first, and where the journal is missing, which is reported."""
    folder = search_folder(workspace, search.id)
    if not (folder / "journal.log").exists():
        if (folder / SEARCHES.file).exists():
            again = "no rates are known; the same `gonn search run` asks for them again and finds their trials"
            tell(Damaged(folder / "journal.log", "it is missing"), again)
        return []
    return open_journal(workspace, search).tried()


@contextmanager
def alone(workspace: Workspace, search: Search) -> Iterator[None]:
    """While this is entered no other command of this machine runs the search; waits for one that does."""
    folder = search_folder(workspace, search.id)
    with locked(folder / ".lock"):
        cut_damaged(folder / "journal.log", search)
        yield
