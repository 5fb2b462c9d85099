"""Positions put down at once instead of played: setup stones of a game, bitboards of a row."""

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.points import EMPTY, PADDED, POINTS, WALL, WORDS
from gonn_core.go.rules import BOTTOM, PADDED_POINT, clear_board, neighbours, play

_ONE = np.uint64(1)


@kernel
def place_setup(setup, stones):
    """Bitboards `stones` (12,) of setup codes colour*361 + point in file order; codes out of range are ignored."""
    stones[:] = 0
    for code in setup:
        if 0 <= code < 3 * POINTS:
            colour, p = code // POINTS, code % POINTS
            bit = _ONE << np.uint64(p & 63)
            for side in range(2):
                stones[side * WORDS + (p >> 6)] &= ~bit
            if colour != 0:
                stones[(colour - 1) * WORDS + (p >> 6)] |= bit
    if len(setup) > 0:
        keep_living(stones)


@kernel
def has_point(words, p):
    """True when point p (0..360) is set in the bitboard."""
    return (words[p >> 6] >> np.uint64(p & 63)) & _ONE != 0


@kernel
def keep_living(stones):
    """Removes from a (12,) row of stones, in place, all chains without a liberty, of both colours at once.

    No legal game has such a chain; drawn setups may, and no kernel can do anything sensible with one.
    """
    colour = np.full(PADDED, WALL, np.uint8)
    for p in range(POINTS):
        colour[PADDED_POINT[p]] = has_point(stones[:WORDS], p) + 2 * has_point(stones[WORDS:], p)
    alive = np.zeros(PADDED, np.bool_)
    waiting = np.empty(PADDED, np.uint64)
    count = 0
    for p in PADDED_POINT:
        if colour[p] == 1 or colour[p] == 2:
            for q in neighbours(p):
                if colour[q] == EMPTY:
                    alive[p] = True
            if alive[p]:
                waiting[count] = p
                count += 1
    while count > 0:
        count -= 1
        p = waiting[count]
        for q in neighbours(p):
            if colour[q] == colour[p] and not alive[q]:
                alive[q] = True
                waiting[count] = q
                count += 1
    for p in range(POINTS):
        if not alive[PADDED_POINT[p]]:
            for side in range(2):
                stones[side * WORDS + (p >> 6)] &= ~(_ONE << np.uint64(p & 63))


@kernel
def set_up(board, undo, stones):
    """Makes the board of a (12,) row of stones in which every chain has a liberty (see `keep_living`)."""
    clear_board(board)
    for word in range(2 * WORDS):
        bits = stones[word]
        while bits != 0:
            p = PADDED_POINT[(word % WORDS) * 64 + lowest_bit(bits)]
            bits &= bits - _ONE
            play(board, undo, BOTTOM, p, np.uint64(1 + word // WORDS))
