"""What the rules of a data set ask of games and games do not say, in SGF's words."""

from collections.abc import Iterable

import numpy as np

from gonn_core.go import layout
from gonn_core.records.archives.reading import MOST_NAMES, NamedCount
from gonn_core.records.store import Store
from gonn_core.records.views import RowFilter, SplitRule

_RANKS = (("black_rank", "BR"), ("white_rank", "WR"))


def lacking(store: Store, rows: RowFilter, splits: Iterable[SplitRule]) -> dict[str, NamedCount]:
    """`min_rank: BR is missing` -> the games of which that is true; nothing where every game says what is asked.

    Rules that ask: min_rank, min_opponent_rank and ignore_amateurs for ranks (a move without them is no sample),
    min_year and splits by year for a date (a game without one is in no split).
    """
    games = store.games
    found: dict[str, NamedCount] = {}
    ranks = [name for name in ("min_rank", "min_opponent_rank") if getattr(rows, name) is not None]
    ranks += ["ignore_amateurs"] * rows.ignore_amateurs
    for rule in ranks[:1]:
        for column, name in _RANKS:
            _count(found, store, f"{rule}: {name} is missing", games[column] == layout.RANK_MISSING)
            _count(found, store, f"{rule}: {name} is no rank", games[column] == layout.RANK_UNPARSABLE)
    years = ["min_year"] if rows.min_year is not None else ["years"] * any(rule.years for rule in splits)
    for rule in years:
        _count(found, store, f"{rule}: DT has no year", games["year"] == 0)
    return found


def _count(found: dict[str, NamedCount], store: Store, what: str, which: np.ndarray) -> None:
    games = np.flatnonzero(which)
    if len(games):
        found[what] = NamedCount(len(games), [store.game_name(int(game)) for game in games[:MOST_NAMES]])
