"""The positions that the loader and evaluations read: a store, games that one is made of, or the bundled ones."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gonn_core.errors import UserError
from gonn_core.go.layout import MOVE
from gonn_core.records.build import GameSource, prepare_store
from gonn_core.records.store import Store, open_store

BUNDLED = Path(__file__).resolve().parents[2] / "ablations" / "starter" / "gnugo-selfplay.tar.xz"


@dataclass(frozen=True)
class Games:
    """A store and its rows that have a move to predict, in a fixed random order."""

    store: Store
    rows: np.ndarray
    told: str
    digest: str = "0" * 20

    @property
    def view(self) -> "Games":
        """As the sampler wants it: `rows`, `digest`."""
        return self


def find_games(stores: Path, store: Path | None, games: Path | None) -> Games:
    """Of a store's folder, else of archives or a folder of games, else of the bundled games; a store that is made goes
    below `stores`. Raises UserError."""
    if store is not None:
        opened, told = open_store(store), f"store {store.name}"
    else:
        source = games or BUNDLED
        if not source.exists():
            raise UserError(f"no games at {source}: name some with --games or --store")
        opened, told = prepare_store([GameSource(source)], stores), "bundled games" if games is None else source.name
    rows = np.flatnonzero(np.asarray(opened.moves)[:, MOVE] >= 0)
    order = np.random.default_rng(0).permutation(len(rows))
    return Games(opened, rows[order], f"{told}, {len(opened):,} positions")
