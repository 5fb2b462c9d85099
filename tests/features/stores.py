"""Position stores of the games of the oracles, and the rows in them that an oracle has."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gonn_core.features.source import PlaneSource, plane_source
from gonn_core.go.layout import FLAGS, HANDICAP_MOVE, MOVE, PLY
from gonn_core.go.points import POINTS
from gonn_core.records import build


@cache
def open_games(path: Path):
    """The position store of an archive or folder of games, built once per test process."""
    folder = tempfile.mkdtemp(prefix="gonn-planes-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build.prepare_store([build.GameSource(path)], Path(folder))


class Known(NamedTuple):
    """Planes known from elsewhere of rows of a store."""

    source: PlaneSource
    rows: np.ndarray  # (B,) rows of the source
    moves: np.ndarray  # (B,) the moves played there
    planes: np.ndarray  # (B, C, 361) uint8


def known_planes(oracle: Path, games: Path, planes: int) -> Known:
    """An oracle with that many planes, and where its rows are in the store of its games."""
    store, z = open_games(games), np.load(oracle, allow_pickle=False)
    names = [store.game_name(game).rsplit("/", 1)[-1] for game in range(len(store.games))]
    first = np.array([store.games[names.index(str(name))]["first_row"] for name in z["files"]])
    rows = first[z["game"]] + z["ply"]
    assert np.array_equal(store.moves[rows, PLY], z["ply"]) and np.array_equal(store.moves[rows, MOVE], z["move"])
    bits = np.unpackbits(z["planes"], axis=1, count=planes * POINTS)
    return Known(plane_source(store), rows, z["move"], bits.reshape(-1, planes, POINTS))


def sample_rows(store) -> np.ndarray:
    """Rows of a store that are samples: a move played that is neither pass nor handicap."""
    return np.flatnonzero((store.moves[:, MOVE] >= 0) & (store.moves[:, FLAGS] & HANDICAP_MOVE == 0))
