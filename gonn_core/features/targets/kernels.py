"""Kernels of the targets in targets.py. Each fills one array of a batch; none tests bounds."""

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.layout import FLAGS, KO, LAST, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import SYMMETRY, WORDS

CENSORED_PLIES = 20

_ONE = np.uint64(1)
_LONGEST = 33
NEVER = 7
_BINS = np.array([-1, 0, 1, 2, 2, *[3] * 4, *[4] * 8, *[5] * 16, 6], np.int8)
"""(34,) class of a number of turns, 1 … 32, 33 or more."""
assert len(_BINS) == _LONGEST + 1


@kernel
def _mark(bits, word, image, value, out):
    """Set `out` to `value` at the images of the points in one word of a bitboard."""
    while bits != 0:
        out[image[word * 64 + lowest_bit(bits)]] = value
        bits &= bits - _ONE


@kernel
def mark_illegal(stones, moves, rows, symmetries, out):
    """out (B, 361) bool: points with a stone, and the ko point."""
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        out[j] = False
        for word in range(WORDS):
            _mark(stones[row, word] | stones[row, WORDS + word], word, image, True, out[j])
        if moves[row, KO] >= 0:
            out[j, image[moves[row, KO]]] = True


@kernel
def mark_laddered(stones, ladders, rows, symmetries, out):
    """out (B, 361) bool: stones that the store's ladder bits mark."""
    for j in range(len(rows)):
        row = rows[j]
        out[j] = False
        for word in range(WORDS):
            _mark(
                ladders[row, word] & (stones[row, word] | stones[row, WORDS + word]),
                word,
                SYMMETRY[symmetries[j]],
                True,
                out[j],
            )


@kernel
def fill_future(moves, rows, symmetries, out):
    """out (B, K) int64: the moves 1 … K after the one played from here, as long as the game goes on and the players
    alternate; else -1."""
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        out[j] = -1
        mover = moves[row, FLAGS] & WHITE_TO_MOVE
        for k in range(out.shape[1]):
            if moves[row, FLAGS] & LAST:
                break
            row += 1
            mover ^= WHITE_TO_MOVE
            if moves[row, FLAGS] & WHITE_TO_MOVE != mover:
                break
            if moves[row, MOVE] >= 0:
                out[j, k] = image[moves[row, MOVE]]


@kernel
def _is_censored(game, last, censored, row):
    return censored[game[row]] and last[game[row]] - row <= CENSORED_PLIES


@kernel
def fill_next_occupants(moves, game, last, censored, rows, symmetries, out):
    """out (B, 361) int8: 0 none, 1 own, 2 opponent's; -1 everywhere near the end of a censored game.

    A stone only comes to an empty point, so the next stone at a point is the next move there, whatever stands there
    now.
    """
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        if _is_censored(game, last, censored, row):
            out[j] = -1
            continue
        out[j] = 0
        mover = moves[row, FLAGS] & WHITE_TO_MOVE
        for at in range(row, last[game[row]]):
            move = moves[at, MOVE]
            if move >= 0 and out[j, image[move]] == 0:
                out[j, image[move]] = 1 if moves[at, FLAGS] & WHITE_TO_MOVE == mover else 2


@kernel
def fill_removal_times(stones, moves, game, last, censored, rows, symmetries, out):
    """out (B, 361) int8: class of each stone's capture, -1 on empty points, and everywhere near the end of a censored
    game.

    Black stones leave on White's turns and the other way round, so a turn is a look at six words; each opponent's turn
    counts, passes too.
    """
    standing = np.empty(2 * WORDS, np.uint64)
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        out[j] = -1
        if _is_censored(game, last, censored, row):
            continue
        for word in range(2 * WORDS):
            standing[word] = stones[row, word]
            _mark(standing[word], word % WORDS, image, NEVER, out[j])
        turns_of_black = turns_of_white = 0
        for at in range(row, last[game[row]]):
            if moves[at, FLAGS] & WHITE_TO_MOVE:
                turns_of_white += 1
                turns, first = turns_of_white, 0
            else:
                turns_of_black += 1
                turns, first = turns_of_black, WORDS
            for word in range(WORDS):
                gone = standing[first + word] & ~stones[at + 1, first + word]
                if gone != 0:
                    standing[first + word] ^= gone
                    _mark(gone, word, image, _BINS[min(turns, _LONGEST)], out[j])


@kernel
def fill_ownership(moves, game, owners, rows, symmetries, out):
    """out (B, 361) int8 from owners (G, 12) uint64, Black's points and White's: 1 own, 0 the opponent's, -1
    neither's."""
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        white = moves[row, FLAGS] & WHITE_TO_MOVE
        out[j] = -1
        for word in range(WORDS):
            _mark(owners[game[row], word], word, image, 0 if white else 1, out[j])
            _mark(owners[game[row], WORDS + word], word, image, 1 if white else 0, out[j])
