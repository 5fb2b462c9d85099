"""Chains and liberties of one position, as kernels on the padded board.

The order of work is `unpack` -> `find_chains` -> `find_liberties`; all that they find is in one `Chains`. A
mispredicted branch costs as much as some twenty instructions and boards are unpredictable, so the loops run over lists
of cells and select rather than branch.
"""

from typing import NamedTuple

import numpy as np

from gonn_core.features.cell_sets import (
    CELL_WORDS,
    EAST,
    NORTH,
    ON_BOARD,
    SOUTH,
    WEST,
    bit_of,
    count_bits,
    neighbours,
    pad,
)
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.points import PADDED, TO_PADDED

OWN, OPPONENT, EDGE = 1, 2, 4
"""What a cell of the padded board holds, seen by the side to move; 0 is an empty point."""

_ONE = np.uint64(1)
_BARE = np.full(PADDED, EDGE, np.uint8)
_BARE[TO_PADDED] = 0


class Chains(NamedTuple):
    """One position on the padded board. Stones and shores are listed in raster order; entries after the last are
    undefined."""

    cells: np.ndarray  # (441,) uint8: OWN, OPPONENT, EDGE or 0
    empty: np.ndarray  # (7,) uint64: the set of empty points
    stones: np.ndarray  # (441,) uint16: the cells that hold a stone
    shores: np.ndarray  # (441,) uint16: the empty points with a stone beside them
    names: np.ndarray  # (441,) uint16: the names of the chains
    chain: (
        np.ndarray
    )  # (441,) uint16: name of the stone's chain, which is its first stone in raster order; 0 where no stone is
    liberties: np.ndarray  # (441,) uint16: number of liberties of the stone's chain; 0 where no stone is
    liberty_sets: (
        np.ndarray
    )  # (441, 7) uint64: liberties of each chain, at its name; entry 0, "no chain", is the empty set


@kernel
def make_chains():
    """Memory for one position, undefined until it has gone through the three kernels below."""
    return Chains(
        np.empty(PADDED, np.uint8),
        np.empty(CELL_WORDS, np.uint64),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty((PADDED, CELL_WORDS), np.uint64),
    )


@kernel
def unpack(own, opponent, board):
    """Lay out a position given by two bitboards (6,) uint64: fills cells, empty, stones, shores; returns how many
    stones and shores."""
    mine, other = np.empty(CELL_WORDS, np.uint64), np.empty(CELL_WORDS, np.uint64)
    beside = np.empty(CELL_WORDS, np.uint64)
    pad(own, mine)
    pad(opponent, other)
    for p in range(PADDED):
        board.cells[p] = _BARE[p]
    n_stones = n_shores = 0
    for word in range(CELL_WORDS):
        occupied = mine[word] | other[word]
        bits = occupied
        while bits != 0:
            k = lowest_bit(bits)
            p = word * 64 + k
            board.cells[p] = OWN + ((other[word] >> np.uint64(k)) & _ONE)
            board.stones[n_stones] = p
            n_stones += 1
            bits &= bits - _ONE
        mine[word] = occupied
        board.empty[word] = ON_BOARD[word] & ~occupied
    neighbours(mine, beside)
    for word in range(CELL_WORDS):
        bits = beside[word] & board.empty[word]
        while bits != 0:
            board.shores[n_shores] = word * 64 + lowest_bit(bits)
            n_shores += 1
            bits &= bits - _ONE
    return n_stones, n_shores


@kernel
def find_chains(board, n_stones):
    """Fill `chain` and `names`; returns how many chains there are.

    One raster scan gives labels; where the chains to the west and to the north of a stone meet, the later label is hung
    below the earlier one. A label's parent is never later than the label, so one pass over the labels in order resolves
    them all.
    """
    cells, chain = board.cells, board.chain
    parent = np.empty(PADDED, np.uint16)
    labels = np.empty(PADDED, np.uint16)
    chain[:] = 0
    n = 0
    for k in range(n_stones):
        p = np.int64(board.stones[k])
        north, west = cells[p + NORTH] == cells[p], cells[p + WEST] == cells[p]
        chain[p] = p
        parent[p] = p
        label = chain[p + (WEST if west else (NORTH if north else 0))]
        chain[p] = label
        labels[n] = p
        n += label == p
        if west & north & (chain[p + NORTH] != label):
            a, b = np.int64(label), np.int64(chain[p + NORTH])
            while parent[a] != a:
                a = np.int64(parent[a])
            while parent[b] != b:
                b = np.int64(parent[b])
            parent[max(a, b)] = min(a, b)
    for k in range(n):
        label = labels[k]
        parent[label] = parent[parent[label]]
    n_chains = 0
    for k in range(n_stones):
        p = board.stones[k]
        name = parent[chain[p]]
        chain[p] = name
        board.names[n_chains] = name
        n_chains += name == p
    return n_chains


@kernel
def find_liberties(board, n_stones, n_shores, n_chains):
    """Fill `liberty_sets` and `liberties`."""
    chain, liberties, sets = board.chain, board.liberties, board.liberty_sets
    for k in range(n_chains):
        name = board.names[k]
        for word in range(CELL_WORDS):
            sets[name, word] = 0
    for k in range(n_shores):
        p = np.int64(board.shores[k])
        word, bit = p >> 6, bit_of(p)
        sets[chain[p + NORTH], word] |= bit
        sets[chain[p + WEST], word] |= bit
        sets[chain[p + EAST], word] |= bit
        sets[chain[p + SOUTH], word] |= bit
    for word in range(CELL_WORDS):
        sets[0, word] = 0
    liberties[:] = 0
    for k in range(n_chains):
        name = board.names[k]
        count = np.uint64(0)
        for word in range(CELL_WORDS):
            count += count_bits(sets[name, word])
        liberties[name] = count
    for k in range(n_stones):
        p = board.stones[k]
        liberties[p] = liberties[chain[p]]
