"""Rows like the position store's for positions that are in no store: test positions, a game being played."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gonn_core.go.ladders import ladder_bits
from gonn_core.go.layout import FIRST, FLAGS, KO, LAST, MOVE, NONE, WHITE_TO_MOVE
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
    """Arrays to give to `gonn_planes` in place of the store's: each position after one row for every move of its
    history.

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
            stones[row] = _without(position.stones, position.history[:ago])
            moves[row, FLAGS] |= WHITE_TO_MOVE if (position.mover == WHITE) == (ago % 2 == 0) else 0
            row += 1
        stones[row] = position.stones
        ladders[row] = ladder_bits(position.stones, position.ko) if position.ladders is None else position.ladders
        moves[row, MOVE], moves[row, KO] = NONE, position.ko
        moves[row, FLAGS] |= LAST | (WHITE_TO_MOVE if position.mover == WHITE else 0)
        rows[index] = row
        row += 1
    return PositionRows(stones, ladders, moves, rows)


def _without(stones: np.ndarray, points: Sequence[int]) -> np.ndarray:
    """(12,) uint64: a board with nothing on some points; passes among them are none."""
    left = np.array(stones, np.uint64)
    for point in points:
        if point >= 0:
            left[[point >> 6, WORDS + (point >> 6)]] &= ~np.uint64(1 << (point & 63))
    return left


def _check(index: int, position: Position) -> None:
    if position.mover not in (BLACK, WHITE):
        raise ValueError(f"position {index}: mover {position.mover}; valid: {BLACK} (black), {WHITE} (white)")
    if not -1 <= position.ko < POINTS:
        raise ValueError(f"position {index}: ko {position.ko}; valid: -1 (none), 0..{POINTS - 1}")
    for move in position.history:
        if move != PASS and not 0 <= move < POINTS:
            raise ValueError(f"position {index}: move {move} in the history; valid: {PASS} (pass), 0..{POINTS - 1}")
