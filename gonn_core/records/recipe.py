"""A data set as a small file: which archives, how read, filtered and split, and the digests that must come out; also
what its rules ask of games that games do not record.

With it a machine that has the archives and `gonn_core` alone makes the same store and views: `python -m
gonn_core.records recipe.json`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from gonn_core.config import Digest, Strict, parse_model
from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json
from gonn_core.go import layout
from gonn_core.records.archives import MOST_NAMES, NamedCount
from gonn_core.records.archives.members import list_archives
from gonn_core.records.build import GameSource, prepare_store
from gonn_core.records.sgf import RANK_SCHEMES
from gonn_core.records.store import Store
from gonn_core.records.views import SPLITS, RowFilter, SplitRule, View, make_views

Split = Literal["train", "validation", "test"]


class RecipeSource(Strict):
    """One archive: its file name wherever it lies, and how it is read: the other fields of `build.GameSource`."""

    file: Annotated[str, Field(min_length=1, max_length=200)]
    rank_scheme: str
    label: str
    lenient: bool = False


class Recipe(Strict):
    """A data set, and what it comes out as."""

    format: Literal[1] = 1
    store: Digest
    sources: tuple[RecipeSource, ...]
    rows: RowFilter
    splits: dict[Split, SplitRule]
    views: dict[Split, Digest]


def make_recipe(
    sources: Sequence[GameSource],
    rows: RowFilter,
    splits: dict[Split, SplitRule],
    store: Store,
    views: dict[Split, View],
) -> Recipe:
    """The recipe of prepared data, its sources in their order."""
    return Recipe(
        store=store.digest,
        sources=tuple(
            RecipeSource(file=s.path.name, rank_scheme=s.rank_scheme, label=s.label, lenient=s.lenient) for s in sources
        ),
        rows=rows,
        splits=splits,
        views={split: view.digest for split, view in views.items()},
    )


def read_recipe(path: Path) -> Recipe:
    """A recipe file. Raises UserError."""
    return parse_model(Recipe, read_json(path), Path(path).name)


def follow(recipe: Recipe, games: Path, stores: Path) -> Store:
    """Store and views of a recipe, found or built below `stores` from the archives below `games`.

    Raises InputError for an archive that is not there, and when something else comes out than the recipe says.
    """
    if not Path(games).is_dir():
        raise InputError(games, "no such folder of game archives")
    archives = {path.name: path for path in reversed(list_archives(Path(games)))}
    sources = []
    for source in recipe.sources:
        if source.file not in archives:
            names = ", ".join(named.file for named in recipe.sources)
            raise InputError(games, f"no archive {source.file} there; the recipe names {names}")
        if source.rank_scheme not in RANK_SCHEMES:
            raise InputError(
                games, f"rank scheme {source.rank_scheme} of {source.file} is none of {', '.join(RANK_SCHEMES)}"
            )
        sources.append(GameSource(archives[source.file], source.rank_scheme, source.label, source.lenient))
    store = prepare_store(sources, stores)
    if store.digest != recipe.store:
        problem = f"these archives make store {store.digest}, not {recipe.store}"
        raise InputError(games, f"{problem}: other files, or another version of the rules")
    views = make_views(
        store, recipe.rows, {split: recipe.splits[split] for split in SPLITS if split in recipe.splits}, stores
    )
    for split, digest in recipe.views.items():
        if split not in views or views[split].digest != digest:
            raise InputError(
                store.folder,
                f"the {split} view is {views[split].digest if split in views else 'missing'}, not {digest}",
            )
    return store


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
