"""Which moves can change the answer of a ladder search, and which can put a stone into a ladder: the only ones that
Cazenave's planes have to try.

An answer hangs on its footprint (the argument is in gonn_core/go/ladder_cache.py), and a move changes its point, the
points that it empties, and all chains on or next to those. So a move matters to an answer when it is inside the
footprint, next to a chain with a stone in there, or captures a chain that has one itself or stands beside a chain that
does. Of some five hundred moves of both sides about a hundred are left.
"""

from typing import NamedTuple

import numpy as np

from gonn_core.features.cell_sets import CELL_WORDS, neighbours
from gonn_core.go.jit import kernel
from gonn_core.go.ladder_search import mark
from gonn_core.go.points import EMPTY, PADDED, POINTS
from gonn_core.go.rules import HEAD, LIBERTIES, NOWHERE, PADDED_POINT, chains_around, empties_around, only_liberty


class ChainSets(NamedTuple):
    """The chains of a position as sets of cells of the padded board, numbered by their heads in raster order."""

    heads: np.ndarray  # (361,) uint64
    number: np.ndarray  # (441,) int64: of a chain, at its head
    stones: np.ndarray  # (361, 7) uint64
    liberties: np.ndarray  # (361, 7) uint64
    empty: np.ndarray  # (7,) uint64: the empty points
    captures: np.ndarray  # (361,) uint64: where a chain in atari is captured, NOWHERE for any other
    shaken: np.ndarray  # (361, 7) uint64: the stones of a chain in atari and those of the enemy's chains beside it


@kernel
def make_chain_sets():
    """Memory for one position."""
    return ChainSets(
        np.empty(POINTS, np.uint64),
        np.empty(PADDED, np.int64),
        np.empty((POINTS, CELL_WORDS), np.uint64),
        np.empty((POINTS, CELL_WORDS), np.uint64),
        np.empty(CELL_WORDS, np.uint64),
        np.empty(POINTS, np.uint64),
        np.empty((POINTS, CELL_WORDS), np.uint64),
    )


@kernel
def find_chain_sets(board, sets):
    """Fill `sets` from the board of `gonn_core.go.rules`; returns how many chains there are."""
    n = 0
    sets.empty[:] = 0
    for p in PADDED_POINT:
        if board[p] == EMPTY:
            mark(sets.empty, p)
        elif board[HEAD + p] == p:
            sets.heads[n], sets.number[p] = p, n
            sets.stones[n, :] = 0
            sets.liberties[n, :] = 0
            n += 1
    for p in PADDED_POINT:
        if board[p] != EMPTY:
            mark(sets.stones[sets.number[board[HEAD + p]]], p)
            continue
        for colour in (np.uint64(1), np.uint64(2)):
            for head in chains_around(board, p, colour):
                if head != NOWHERE:
                    mark(sets.liberties[sets.number[head]], p)
    _find_captures(board, sets, n)
    return n


@kernel
def _find_captures(board, sets, n):
    beside = np.empty(CELL_WORDS, np.uint64)
    for k in range(n):
        head = sets.heads[k]
        sets.captures[k] = NOWHERE
        if board[LIBERTIES + head] != 1:
            continue
        sets.captures[k] = only_liberty(board, head)
        neighbours(sets.stones[k], beside)
        sets.shaken[k] = sets.stones[k]
        for other in range(n):
            if board[sets.heads[other]] != board[head] and _meet(sets.stones[other], beside):
                for word in range(CELL_WORDS):
                    sets.shaken[k, word] |= sets.stones[other, word]


@kernel
def _meet(one, other):
    common = np.uint64(0)
    for word in range(CELL_WORDS):
        common |= one[word] & other[word]
    return common != 0


@kernel
def moves_that_matter(board, sets, n, footprint, mover, moves):
    """`moves` (7,): the empty points where a move by `mover` can change an answer with this footprint."""
    for word in range(CELL_WORDS):
        moves[word] = footprint[word] & sets.empty[word]
    for k in range(n):
        if _meet(sets.stones[k], footprint):
            for word in range(CELL_WORDS):
                moves[word] |= sets.liberties[k, word]
        if sets.captures[k] != NOWHERE and board[sets.heads[k]] != mover and _meet(sets.shaken[k], footprint):
            mark(moves, sets.captures[k])


@kernel
def moves_into_few_liberties(board, mover, moves):
    """`moves` (7,): the empty points where a move by `mover` may leave his chain with two liberties or fewer.

    Three empty neighbours are three liberties, and a chain of four keeps three.
    """
    moves[:] = 0
    for p in PADDED_POINT:
        if board[p] != EMPTY or empties_around(board, p) > 2:
            continue
        few = True
        for head in chains_around(board, p, mover):
            few &= head == NOWHERE or board[LIBERTIES + head] <= 3
        if few:
            mark(moves, p)
