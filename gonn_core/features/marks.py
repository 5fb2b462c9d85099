"""Marks: the planes of a position as flat indices `plane*361 + point` of their ones, already under the wanted symmetry.

For the sets go_nn, clark and cazenave, which share most of their planes. *Tables* say at which mark each kind of plane
begins; for a plane that was not chosen that is behind the last one, and the writers drop what lies there. gonn has
kernels of its own.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gonn_core.features.chains import (
    EAST,
    NORTH,
    OPPONENT,
    OWN,
    SOUTH,
    WEST,
    find_chains,
    find_liberties,
    make_chains,
    unpack,
)
from gonn_core.features.liberties_after import MOST, wide_liberties_after
from gonn_core.features.sets import LADDER_PLANES, SIDES
from gonn_core.go.jit import kernel
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import FROM_PADDED, PADDED, POINTS, SIZE, SYMMETRY, TO_PADDED, WORDS

ROOM = 16 * POINTS
"""Marks that one position may have: four a point for stones, liberties and captures, ones, ko flag, third line, eight
of ladders."""

_COLS, _ROWS = np.arange(POINTS) % SIZE, np.arange(POINTS) // SIZE
THIRD_LINE = np.flatnonzero(np.minimum.reduce([_ROWS, _COLS, SIZE - 1 - _ROWS, SIZE - 1 - _COLS]) == 2)
"""Points whose nearest edge is on the third line (spec: other systems 4.2, plane 5)."""


class Tables(NamedTuple):
    """First marks of planes, `end` for those that are not chosen."""

    holds: np.ndarray  # (3,): an empty point, an own stone, an opponent's
    liberties: np.ndarray  # (3, 6): by what the point holds and its liberties, 5 = 5 or more
    after: np.ndarray  # (3, 7): by who plays (OWN, OPPONENT) and the liberties then, 6 = 6 or more
    captures: np.ndarray  # (5,): by the number of stones, 4 = 4 or more
    history: np.ndarray  # (5,)
    ladders: np.ndarray  # (8,)
    ones: int
    third_line: int
    ko_flag: int
    ko: int
    end: int
    setup_is_history: bool


@lru_cache(64)
def make_tables(planes: tuple[str, ...], setup_is_history: bool) -> Tables:
    """Tables for the planes with these names, in this order. `setup_is_history`: setup stones count as moves
    (go-NN)."""
    end = len(planes) * POINTS

    def first(name, number=None):
        names = (
            [name] if number is None else [f"{name}_{number}", *(f"{name}_{k}_or_more" for k in range(number, -1, -1))]
        )
        return next((planes.index(name) * POINTS for name in names if name in planes), end)

    def by_side(name, numbers):
        return np.array([[end] * len(numbers), *([first(f"{side}_{name}", k) for k in numbers] for side in SIDES)])

    return Tables(
        np.array([first("empty"), *(first(f"{side}_stone") for side in SIDES)]),
        by_side("liberties", range(6)),
        by_side("liberties_after", range(MOST + 1)),
        np.array([first("captures", k) for k in range(5)]),
        np.array([first("history", k) for k in range(1, 6)]),
        np.array([first(name) for name in LADDER_PLANES]),
        first("ones"),
        first("third_line"),
        first("ko_flag"),
        first("ko"),
        end,
        setup_is_history,
    )


@kernel
def _mark_points(board, after, tables, ko, image, marks):
    """Marks of stones, empty points, liberties, liberties after a play (none at the ko point). Returns their number."""
    wants_after = tables.after[OWN, 0] != tables.end
    n = 0
    for point in range(POINTS):
        p, target = np.int64(TO_PADDED[point]), image[point]
        holds = np.int64(board.cells[p])
        marks[n] = tables.holds[holds] + target
        n += 1
        if holds != 0:
            marks[n] = tables.liberties[holds, min(np.int64(board.liberties[p]), 5)] + target
            n += 1
        elif wants_after and point != ko:
            for side in (OWN, OPPONENT):
                marks[n] = tables.after[side, after[side, p]] + target
                n += 1
    return n


@kernel
def _mark_captures(board, n_stones, n_shores, tables, ko, image, marks, n):
    """Appends the marks of points where own captures, by the stones of all the chains; not the ko point (spec: other
    systems 1.2)."""
    chain, sizes = board.chain, np.zeros(PADDED, np.int64)
    for k in range(n_stones):
        p = board.stones[k]
        sizes[chain[p]] += board.cells[p] == OPPONENT and board.liberties[p] == 1
    ko_cell = np.int64(TO_PADDED[ko]) if ko >= 0 else 0
    for k in range(n_shores):
        p = np.int64(board.shores[k])
        a, b, c, d = chain[p + NORTH], chain[p + WEST], chain[p + EAST], chain[p + SOUTH]
        stones = sizes[a] + (sizes[b] if b != a else 0) + (sizes[c] if c != a and c != b else 0)
        stones += sizes[d] if d != a and d != b and d != c else 0
        if stones > 0 and p != ko_cell:
            marks[n] = tables.captures[min(stones, 4)] + image[FROM_PADDED[p]]
            n += 1
    return n


@kernel
def _mark_history(source, row, keep, tables, image, marks, n):
    """Appends the marks of the last `keep` moves, as far back as the game goes; a pass leaves its plane empty,
    whichever side moved.

    With `setup_is_history` the stones put down before the first move are moves too, the last in the file being the
    latest.
    """
    game = source.game[row]
    ahead = np.int64(source.setup_count[game]) if tables.setup_is_history else 0  # codes not looked at yet
    for k in range(min(np.int64(keep), len(tables.history))):  # type: ignore[call-overload]
        if source.moves[row, FLAGS] & FIRST:
            while ahead > 0 and source.setup[source.setup_first[game] + ahead - 1] < POINTS:
                ahead -= 1  # a stone taken off is no move
            if ahead == 0:
                break
            ahead -= 1
            move = np.int64(source.setup[source.setup_first[game] + ahead]) % POINTS
        else:
            row -= 1
            move = np.int64(source.moves[row, MOVE])
        if move >= 0:
            marks[n] = tables.history[k] + image[move]
            n += 1
    return n


@kernel
def _mark_all(points, first_mark, image, marks, n):
    for point in points:
        marks[n] = first_mark + image[point]
        n += 1
    return n


_BOARD = np.arange(POINTS)


@kernel
def mark_rows(source, rows, symmetries, keep, tables, marks, counts, targets):
    """Marks (B, ROOM) uint16 of the positions at `rows` and their numbers, all but the ladders'; the moves played
    there."""
    board, after = make_chains(), np.empty((3, PADDED), np.uint8)
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        own = WORDS if source.moves[row, FLAGS] & WHITE_TO_MOVE else 0
        opponent = WORDS - own
        stones = source.stones[row]
        n_stones, n_shores = unpack(stones[own : own + WORDS], stones[opponent : opponent + WORDS], board)
        n_chains = find_chains(board, n_stones)
        find_liberties(board, n_stones, n_shores, n_chains)
        ko = np.int64(source.moves[row, KO])
        if tables.after[OWN, 0] != tables.end:
            wide_liberties_after(board, n_stones, n_shores, after)
        n = _mark_points(board, after, tables, ko, image, marks[j])
        if tables.captures[1] != tables.end:
            n = _mark_captures(board, n_stones, n_shores, tables, ko, image, marks[j], n)
        n = _mark_history(source, row, keep[j], tables, image, marks[j], n)
        if tables.ones != tables.end:
            n = _mark_all(_BOARD, tables.ones, image, marks[j], n)
        if tables.third_line != tables.end:
            n = _mark_all(THIRD_LINE, tables.third_line, image, marks[j], n)
        if ko >= 0:
            marks[j, n] = tables.ko + image[ko]
            n += 1
            if tables.ko_flag != tables.end:
                n = _mark_all(_BOARD, tables.ko_flag, image, marks[j], n)
        counts[j] = n
        move = source.moves[row, MOVE]
        targets[j] = image[move] if move >= 0 else -1


@kernel
def write_numbers(marks, counts, out):
    """Ones and zeros of marks in `out` (B, C*361)."""
    for j in range(len(out)):
        numbers = out[j]
        numbers[:] = 0
        for k in range(counts[j]):
            if marks[j, k] < len(numbers):
                numbers[marks[j, k]] = 1


@kernel
def write_bits(marks, counts, end, out):
    """What numpy.packbits makes of the planes, in `out` (B, bytes) uint8; marks from `end` on are dropped."""
    for j in range(len(out)):
        octets = out[j]
        octets[:] = 0
        for k in range(counts[j]):
            mark = np.int64(marks[j, k])
            if mark < end:
                octets[mark >> 3] |= 0x80 >> (mark & 7)
