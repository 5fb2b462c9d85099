"""GoNN's 26 input planes, made from rows of the position store (spec: GoNN 1.1-1.4).

Planes are 0/1, (26, 19, 19), seen by the side to move. A position is first turned into *marks*, the flat indices
`plane*361 + point` of its ones, already under the wanted symmetry; marks are then written as numbers or as packed bits.

Every call owns its scratch memory and runs without the GIL: call from as many threads as you like.
"""

import numpy as np

from gonn_core.features.chains import find_chains, find_liberties, make_chains, unpack
from gonn_core.features.liberties_after import liberties_after
from gonn_core.go import jit
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
PACKED_BYTES = (PLANES * POINTS + 7) // 8
"""Bytes of one packed position, 1174: 26*361 bits, plane-major, most significant bit first, zero padded
(numpy.packbits)."""

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
    """Append the marks of the three ladder planes, told apart by what the point holds."""
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
def _fill_numbers(stones, ladders, moves, rows, symmetries, keep, out, targets):
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
def _fill_bits(stones, ladders, moves, rows, symmetries, keep, out, targets):
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


def is_compiled(packed: bool) -> bool:
    """Whether `gonn_planes`, or `packed_planes`, would run without compiling first."""
    return jit.is_compiled(_fill_bits if packed else _fill_numbers)


def _checked(stones, ladders, moves, rows, symmetries, keep, targets) -> list[np.ndarray]:
    """The arguments as the kernels were compiled for; the kernels themselves test no bounds. Raises ValueError."""
    store = []
    for name, array, columns, dtype in (
        ("stones", stones, 12, "u8"),
        ("ladders", ladders, 6, "u8"),
        ("moves", moves, 4, "i2"),
    ):
        if array.dtype != dtype or array.shape != (len(stones), columns) or not array.flags.c_contiguous:
            wanted = f"{np.dtype(dtype)} ({len(stones)}, {columns}), C-contiguous"
            raise ValueError(f"{name}: {array.dtype} {array.shape}, must be {wanted}")
        view = array.view(np.ndarray)  # no memmap, and read-only: one compiled version serves every kind of array
        view.flags.writeable = False
        store.append(view)
    batch = []
    for name, array, number, end in (
        ("rows", rows, np.int64, len(stones)),
        ("symmetries", symmetries, np.uint8, len(SYMMETRY)),
        ("keep", keep, np.uint8, HISTORY + 1),
    ):
        array = np.ascontiguousarray(array)
        if array.shape != (len(rows),) or (len(rows) and not (array.min() >= 0 and array.max() < end)):
            raise ValueError(f"{name}: must be {len(rows)} numbers of 0..{end - 1}")
        batch.append(array.astype(number, copy=False))
    if targets.dtype != np.int64 or targets.shape != (len(rows),):
        raise ValueError(f"targets: {targets.dtype} {targets.shape}, must be int64 ({len(rows)},)")
    return [*store, *batch]


def gonn_planes(stones, ladders, moves, rows, symmetries, keep, out, targets, planes: int = PLANES) -> None:
    """Fill `out` with the planes of the positions at `rows`, and `targets` with the moves played there.

    stones (N, 12), ladders (N, 6), moves (N, 4)   the store's arrays (go/layout.py) or others like them, may be
                                                   read-only maps
    rows (B,), symmetries (B,), keep (B,)          which rows; symmetry of each, 0..7; how many earlier moves are
                                                   shown, 0..5
    out (B, P, 19, 19) or (B, P, 361)              float32 or uint8, C-contiguous: ones and zeros
    targets (B,) int64                             the move under the symmetry, -1 for a pass or none
    planes                                         P, 26 or more; those after the 26 come out as zeros

    Raises ValueError for arrays of another shape or type and for numbers out of range.
    """
    arguments = _checked(stones, ladders, moves, rows, symmetries, keep, targets)
    if out.dtype not in (np.float32, np.uint8) or out.shape not in (
        (len(rows), planes, SIZE, SIZE),
        (len(rows), planes, POINTS),
    ):
        raise ValueError(
            f"out: {out.dtype} {out.shape}, must be float32 or uint8 ({len(rows)}, {planes}, {SIZE}, {SIZE})"
        )
    if not out.flags.c_contiguous:
        raise ValueError("out: must be C-contiguous")
    _fill_numbers(*arguments, out.reshape(len(rows), planes * POINTS), targets)


def packed_planes(stones, ladders, moves, rows, symmetries, keep, out, targets, planes: int = PLANES) -> None:
    """As `gonn_planes`, with `out` (B, 1174 for 26 planes) uint8: what numpy.packbits makes of the planes, see
    PACKED_BYTES."""
    arguments = _checked(stones, ladders, moves, rows, symmetries, keep, targets)
    size = (planes * POINTS + 7) // 8
    if out.dtype != np.uint8 or out.shape != (len(rows), size) or not out.flags.c_contiguous:
        raise ValueError(f"out: {out.dtype} {out.shape}, must be uint8 ({len(rows)}, {size}), C-contiguous")
    _fill_bits(*arguments, out, targets)
