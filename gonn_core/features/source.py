"""The arrays that planes are made from, as kernels take them: those of a position store, or others laid out like
them."""

from typing import NamedTuple

import numpy as np

from gonn_core.go.layout import GAME


class PlaneSource(NamedTuple):
    """N rows of G games; all read-only. Laid out as in go/layout.py."""

    stones: np.ndarray  # (N, 12) uint64
    ladders: np.ndarray  # (N, 6) uint64
    moves: np.ndarray  # (N, 4) int16
    game: np.ndarray  # (N,) int32
    setup_first: np.ndarray  # (G,) int64: where a game's codes begin in `setup`
    setup_count: np.ndarray  # (G,) int32
    setup: np.ndarray  # (S,) int16 codes colour*361 + point in file order


_LAYOUT = {"stones": ("u8", 12), "ladders": ("u8", 6), "moves": ("i2", 4), "game": ("i4", 0), "setup": ("i2", 0)}


def plane_source(store) -> PlaneSource:
    """The source of an open position store, or of anything with `stones`, `ladders` and `moves`.

    Where there is no `game`, all rows belong to games without setup stones. Copies nothing but two numbers a game.
    Raises ValueError for arrays of another shape or type.
    """
    count = len(store.stones)
    games = getattr(store, "games", np.zeros(1, GAME))
    arrays = {
        "stones": store.stones,
        "ladders": store.ladders,
        "moves": store.moves,
        "game": getattr(store, "game", np.zeros(count, np.int32)),
        "setup_first": np.ascontiguousarray(games["setup_first"]),
        "setup_count": np.ascontiguousarray(games["setup_count"]),
        "setup": getattr(store, "setup", np.zeros(0, np.int16)),
    }
    for name, (dtype, columns) in _LAYOUT.items():
        array = arrays[name]
        shape = (len(array) if name == "setup" else count, *([columns] if columns else []))
        if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(f"{name}: {array.dtype} {array.shape}, must be {np.dtype(dtype)} {shape}, C-contiguous")
    for name, array in arrays.items():
        arrays[name] = array.view(np.ndarray)  # no memmap, read-only: one compiled version serves every kind of array
        arrays[name].flags.writeable = False
    return PlaneSource(**arrays)
