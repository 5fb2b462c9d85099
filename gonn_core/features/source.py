"""The arrays that planes are made from, as kernels take them: those of a position store, or others laid out like
them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gonn_core.go.ladder_search import ladder_bits
from gonn_core.go.layout import FIRST, FLAGS, GAME, KO, LAST, MOVE, NONE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE, WORDS


class Position(NamedTuple):
    """A position to be predicted."""

    stones: np.ndarray
    """(12,) uint64: black bitboard, then white."""
    mover: int
    """BLACK or WHITE: who is to move."""
    ko: int = -1
    """The point that the simple ko forbids, or -1."""
    history: tuple[int, ...] = ()
    """Earlier moves, the last one first, points or PASS; the players alternate, so the first of them is the
    opponent's."""
    ladders: np.ndarray | None = None
    """(6,) uint64 ladder bitboard where it is known; searched for otherwise."""


class PositionRows(NamedTuple):
    """`rows[i]` is the row of position i in the other three arrays, which are laid out as the store's
    (go/layout.py)."""

    stones: np.ndarray
    ladders: np.ndarray
    moves: np.ndarray
    rows: np.ndarray


def position_rows(positions: Sequence[Position]) -> PositionRows:
    """Arrays to make planes from (`plane_source`) in place of the store's: each position after one row for every move
    of its history.

    The boards of the history rows are the position's without the stones played since: what was captured by those moves
    is not known and not put back. Ladders and ko points of these rows mean nothing. Raises ValueError for a mover or
    point that is none.
    """
    total = sum(1 + len(position.history) for position in positions)
    stones, ladders = np.zeros((total, 2 * WORDS), np.uint64), np.zeros((total, WORDS), np.uint64)
    moves, rows = np.zeros((total, 4), np.int16), np.zeros(len(positions), np.int64)
    moves[:, KO] = -1
    row = 0
    for index, position in enumerate(positions):
        _check(index, position)
        moves[row, FLAGS] = FIRST
        for ago in range(len(position.history), 0, -1):
            moves[row, MOVE] = position.history[ago - 1]
            stones[row] = position.stones
            for point in position.history[:ago]:
                if point != PASS:
                    stones[row, [point >> 6, WORDS + (point >> 6)]] &= ~np.uint64(1 << (point & 63))
            moves[row, FLAGS] |= WHITE_TO_MOVE if (position.mover == WHITE) == (ago % 2 == 0) else 0
            row += 1
        stones[row] = position.stones
        ladders[row] = ladder_bits(position.stones, position.ko) if position.ladders is None else position.ladders
        moves[row, MOVE], moves[row, KO] = NONE, position.ko
        moves[row, FLAGS] |= LAST | (WHITE_TO_MOVE if position.mover == WHITE else 0)
        rows[index] = row
        row += 1
    return PositionRows(stones, ladders, moves, rows)


def _check(index: int, position: Position) -> None:
    if position.mover not in (BLACK, WHITE):
        raise ValueError(f"position {index}: mover {position.mover}; valid: {BLACK} (black), {WHITE} (white)")
    if not -1 <= position.ko < POINTS:
        raise ValueError(f"position {index}: ko {position.ko}; valid: -1 (none), 0..{POINTS - 1}")
    for move in position.history:
        if move != PASS and not 0 <= move < POINTS:
            raise ValueError(f"position {index}: move {move} in the history; valid: {PASS} (pass), 0..{POINTS - 1}")


class PlaneSource(NamedTuple):
    """N rows of G games; all read-only. Laid out as in go/layout.py."""

    stones: np.ndarray  # (N, 12) uint64
    ladders: np.ndarray  # (N, 6) uint64
    moves: np.ndarray  # (N, 4) int16
    game: np.ndarray  # (N,) int32
    setup_first: np.ndarray  # (G,) int64: where a game's codes begin in `setup`
    setup_count: np.ndarray  # (G,) int32
    setup: np.ndarray  # (S,) int16 codes colour*361 + point in file order
    ranks: np.ndarray  # (G, 2) int16: Black's and White's


_LAYOUT = {"stones": ("u8", 12), "ladders": ("u8", 6), "moves": ("i2", 4), "game": ("i4", 0), "setup": ("i2", 0)}


STRONGEST = np.full((1, 2), 8, np.int16)
"""Ranks where none are known, as of 9 dan: as a net that knows ranks plays, and answers positions."""


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that is no memmap and not writeable: one compiled version of a kernel serves every kind of array."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def plane_source(store) -> PlaneSource:
    """The source of an open position store, or of anything with `stones`, `ladders` and `moves`.

    Where there is no `game`, all rows belong to games of 9 dan without setup stones. Copies nothing but four numbers a
    game.
    Raises ValueError for arrays of another shape or type.
    """
    count = len(store.stones)
    games = getattr(store, "games", None)
    ranks = STRONGEST if games is None else np.stack([games["black_rank"], games["white_rank"]], 1)
    games = np.zeros(1, GAME) if games is None else games
    arrays = {
        "stones": store.stones,
        "ladders": store.ladders,
        "moves": store.moves,
        "game": getattr(store, "game", np.zeros(count, np.int32)),
        "setup_first": np.ascontiguousarray(games["setup_first"]),
        "setup_count": np.ascontiguousarray(games["setup_count"]),
        "setup": getattr(store, "setup", np.zeros(0, np.int16)),
        "ranks": ranks,
    }
    for name, (dtype, columns) in _LAYOUT.items():
        array = arrays[name]
        shape = (len(array) if name == "setup" else count, *([columns] if columns else []))
        if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(f"{name}: {array.dtype} {array.shape}, must be {np.dtype(dtype)} {shape}, C-contiguous")
    return PlaneSource(**{name: read_only(array) for name, array in arrays.items()})
