"""Planes of own and opponent's stones as they stood 1, 2, … moves ago, behind GoNN's 26 (spec: GoNN 6, history as an
input).

Whose stones are *own* is said by who moves now, on every board. Moves are counted as the store has them: a pass is a
move after which the board is the same, a handicap stone played at the start is one too. Ours, for the documents do not
say: before a game's first move the board that it began with, setup stones included, repeats itself; it is what stood
there.

History dropping hides the boards older than the moves that are kept. A hidden board is empty (`zero`), or a copy of the
oldest one that is still shown, the present one when none is (`copy`): to the net, nothing happened before.
"""

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.layout import FIRST, FLAGS, WHITE_TO_MOVE
from gonn_core.go.points import POINTS, SYMMETRY, WORDS


@kernel
def _mark(stones, moves, row, keep, boards, copy, image, marks):
    """The marks of one position, `plane*361 + point` counted from the first past board; returns their number."""
    own = WORDS if moves[row, FLAGS] & WHITE_TO_MOVE else 0
    n = 0
    for ago in range(boards):
        if ago >= keep and not copy:
            break
        if ago < keep and not moves[row, FLAGS] & FIRST:
            row -= 1
        for side in range(2):
            first_word = own if side == 0 else WORDS - own
            for word in range(WORDS):
                bits = stones[row, first_word + word]
                while bits != 0:
                    marks[n] = (2 * ago + side) * POINTS + image[word * 64 + lowest_bit(bits)]
                    n += 1
                    bits &= bits - np.uint64(1)
    return n


@kernel
def _add_numbers(stones, moves, rows, symmetries, keep, boards, copy, first, out):
    marks = np.empty(boards * POINTS, np.int64)
    for j in range(len(rows)):
        for k in range(_mark(stones, moves, rows[j], keep[j], boards, copy, SYMMETRY[symmetries[j]], marks)):
            out[j, first + marks[k]] = 1


@kernel
def _add_bits(stones, moves, rows, symmetries, keep, boards, copy, first, out):
    marks = np.empty(boards * POINTS, np.int64)
    for j in range(len(rows)):
        for k in range(_mark(stones, moves, rows[j], keep[j], boards, copy, SYMMETRY[symmetries[j]], marks)):
            mark = first + marks[k]
            out[j, mark >> 3] |= 0x80 >> (mark & 7)


def add_past_boards(features, source, rows, symmetries, keep, first: int, out, packed: bool) -> None:
    """Sets the ones of the past boards that `features` asks for in `out`, whose planes from number `first` on are
    zeros.

    rows, symmetries, keep: as in `planes.make_planes`, which has checked them; out (B, planes*361), or (B, bytes) uint8
    if `packed`.
    """
    batch = (np.asarray(rows, np.int64), np.asarray(symmetries, np.uint8), np.asarray(keep, np.uint8))
    add = _add_bits if packed else _add_numbers
    add(
        source.stones,
        source.moves,
        *batch,
        features.past_boards,
        features.past_boards_dropped == "copy",
        first * POINTS,
        out,
    )
