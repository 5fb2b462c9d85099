"""GoNN's 26 input planes, made from rows of the position store (spec: GoNN 1.1-1.4).

Planes are 0/1, (26, 19, 19), seen by the side to move. A position is first turned into *marks*, the flat indices
`plane*361 + point` of its ones, already under the wanted symmetry; marks are then written as numbers or as packed bits.
"""

import numpy as np

from gonn_core.features.chains import find_chains, find_liberties, make_chains, unpack
from gonn_core.features.liberties_after import liberties_after
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import PADDED, POINTS, SIZE, STRIDE, SYMMETRY, TO_PADDED, WORDS

HISTORY = 5
"""Number of earlier moves that have a plane."""

PLANE_NAMES = (
    "on_board",
    "own_stone",
    "opponent_stone",
    *(f"own_liberties_{k}" for k in (1, 2, 3, 4)),
    *(f"opponent_liberties_{k}" for k in (1, 2, 3, 4)),
    *(f"own_liberties_after_{k}" for k in (1, 2, 3)),
    *(f"opponent_liberties_after_{k}" for k in (1, 2, 3)),
    "ko",
    *(f"history_{k}" for k in range(1, HISTORY + 1)),
    "ladder_atari",
    "ladder_two_liberties",
    "ladder_moves",
)
"""Names of the planes in order. Initial weights are keyed by them and results refer to them: never rename one."""

PLANES = len(PLANE_NAMES)

_MAX_MARKS = 3 * POINTS + 1 + HISTORY  # two a point for stones and liberties, one for ladders; ko; history


def _first_mark(plane: str) -> int:
    return PLANE_NAMES.index(plane) * POINTS


_ON_BOARD, _KO, _HISTORY_1 = _first_mark("on_board"), _first_mark("ko"), _first_mark("history_1")
_ATARI, _TWO_LIBERTIES, _MOVES = (
    _first_mark("ladder_atari"),
    _first_mark("ladder_two_liberties"),
    _first_mark("ladder_moves"),
)


def _plane_table(plane_of) -> np.ndarray:
    """Table (3, 6) int32 of a plane's first mark, by what a point holds (nothing, own, opponent) and a number of
    liberties.

    Where there is no such plane the entry is that of `on_board`, which has a one on every point anyway: this spares a
    branch.
    """
    names = [[plane_of(holds, number) for number in range(6)] for holds in range(3)]
    return np.array(
        [[_first_mark(name) if name in PLANE_NAMES else _ON_BOARD for name in row] for row in names], np.int32
    )


# Every point stands in at most two planes about stones and liberties: a stone in that of its colour and that of its
# liberties, an empty point in that of own and that of the opponent's liberties after a play there.
_SIDES = ("", "own", "opponent")
_PLANE_1 = _plane_table(lambda holds, k: f"{_SIDES[holds]}_stone" if holds else f"own_liberties_after_{k}")
_PLANE_2 = _plane_table(lambda holds, k: f"{_SIDES[holds]}_liberties_{k}" if holds else f"opponent_liberties_after_{k}")


@kernel
def _mark_points(cells, after, image, marks):
    """The marks of all planes about stones and liberties: exactly two a point. Returns their number."""
    point = 0
    for row in range(SIZE):
        first_cell = (row + 1) * STRIDE + 1
        for p in range(first_cell, first_cell + SIZE):
            target = image[point]
            marks[2 * point] = _PLANE_1[cells[p], after[0, p]] + target
            marks[2 * point + 1] = _PLANE_2[cells[p], after[1, p]] + target
            point += 1
    return 2 * POINTS


@kernel
def _mark_ladders(ladders, board, image, marks, n):
    """Append the marks of the three ladder planes, by what the point holds."""
    for word in range(WORDS):
        bits = ladders[word]
        while bits != 0:
            point = word * 64 + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            p = TO_PADDED[point]
            count = board.liberties[p]
            plane = _ATARI if count == 1 else (_TWO_LIBERTIES if count == 2 else _ON_BOARD)
            marks[n] = (_MOVES if board.cells[p] == 0 else plane) + image[point]
            n += 1
    return n


@kernel
def _mark_history(moves, row, keep, image, marks, n):
    """Append the marks of the last `keep` moves before `row`, as far back as the game goes and the players
    alternate."""
    mover = moves[row, FLAGS] & WHITE_TO_MOVE
    for k in range(min(keep, HISTORY)):
        if moves[row, FLAGS] & FIRST:
            break
        row -= 1
        mover ^= WHITE_TO_MOVE
        if moves[row, FLAGS] & WHITE_TO_MOVE != mover:
            break
        move = moves[row, MOVE]
        if move >= 0:  # a pass leaves its plane empty
            marks[n] = _HISTORY_1 + k * POINTS + image[move]
            n += 1
    return n


@kernel
def _mark_position(stones, ladders, moves, row, image, keep, board, after, marks):
    """All marks of the position of one store row; returns their number. Marks may repeat; some stand in plane
    `on_board`."""
    own = WORDS if moves[row, FLAGS] & WHITE_TO_MOVE else 0
    opponent = WORDS - own
    n_stones, n_shores = unpack(stones[row, own : own + WORDS], stones[row, opponent : opponent + WORDS], board)
    n_chains = find_chains(board, n_stones)
    find_liberties(board, n_stones, n_shores, n_chains)
    liberties_after(board, n_stones, n_shores, after)
    n = _mark_points(board.cells, after, image, marks)
    n = _mark_ladders(ladders[row], board, image, marks, n)
    n = _mark_history(moves, row, keep, image, marks, n)
    ko = moves[row, KO]
    if ko >= 0:
        marks[n] = _KO + image[ko]
        n += 1
    return n


@kernel
def fill_numbers(stones, ladders, moves, rows, symmetries, keep, out, targets):
    """Planes of the positions at `rows` as ones and zeros in `out` (B, planes*361), those after the 26 zeros; the moves
    played there in `targets`."""
    board, after, marks = make_chains(), np.empty((2, PADDED), np.uint8), np.empty(_MAX_MARKS, np.int32)
    for j in range(len(rows)):
        image, numbers = SYMMETRY[symmetries[j]], out[j]
        n = _mark_position(stones, ladders, moves, rows[j], image, keep[j], board, after, marks)
        numbers[:POINTS] = 1
        numbers[POINTS:] = 0
        for k in range(n):
            numbers[marks[k]] = 1
        move = moves[rows[j], MOVE]
        targets[j] = image[move] if move >= 0 else -1


@kernel
def fill_bits(stones, ladders, moves, rows, symmetries, keep, out, targets):
    """As `fill_numbers`, with `out` (B, bytes) uint8: what numpy.packbits makes of the planes."""
    board, after, marks = make_chains(), np.empty((2, PADDED), np.uint8), np.empty(_MAX_MARKS, np.int32)
    for j in range(len(rows)):
        image, octets = SYMMETRY[symmetries[j]], out[j]
        n = _mark_position(stones, ladders, moves, rows[j], image, keep[j], board, after, marks)
        octets[:] = 0
        octets[: POINTS // 8] = 0xFF
        octets[POINTS // 8] = 0xFF00 >> (POINTS % 8) & 0xFF
        for k in range(n):
            octets[marks[k] >> 3] |= 0x80 >> (marks[k] & 7)
        move = moves[rows[j], MOVE]
        targets[j] = image[move] if move >= 0 else -1
