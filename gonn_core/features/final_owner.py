"""Whose a point certainly is at the end of a counted game, as far as the record alone tells.

A record does not say which stones were taken off as dead, and we ask no engine. Certain is what Benson's rule makes
certain: a chain is alive that has two vital regions. A region is a connected set of points without a stone of the
chain's colour, all chains around it alive; it is vital to a chain next to it when all its empty points are liberties of
the chain, or (ours, since both players have said that nothing is left to play) when no enemy stone is in it. The owner
has the living chains and every region that is vital to one of them. All other points, among them seki, dead stones in
large regions and groups with a single region, stay unknown.
"""

import numpy as np

from gonn_core.features.chains import (
    CELL_WORDS,
    ON_BOARD,
    OPPONENT,
    OWN,
    bit_of,
    find_chains,
    find_liberties,
    make_chains,
    neighbours,
    unpack,
)
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.ladder_search import set_bit
from gonn_core.go.points import PADDED, WORDS

_ONE = np.uint64(1)
APART, ADJACENT, VITAL = 0, 1, 2
"""What a region is to a chain of its colour."""


def certain_owners(stones: np.ndarray, last: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """(G, 12) uint64: the points that are certainly Black's, then White's, at the ends of G games.

    stones (N, 12) of a store; last (G,) int64, the last row of each game; counted (G,) bool, others have no certain
    point.
    """
    owners = np.zeros((len(last), 2 * WORDS), np.uint64)
    _fill_owners(stones, last, counted, owners)
    return owners


@kernel
def _fill_owners(stones, last, counted, owners):
    board = make_chains()
    left = np.empty(CELL_WORDS, np.uint64)
    regions, borders = np.empty((PADDED, CELL_WORDS), np.uint64), np.empty((PADDED, CELL_WORDS), np.uint64)
    for game in range(len(last)):
        if not counted[game]:
            continue
        row = stones[last[game]]
        n_stones, n_shores = unpack(row[:WORDS], row[WORDS:], board)
        n_chains = find_chains(board, n_stones)
        find_liberties(board, n_stones, n_shores, n_chains)
        for colour in (OWN, OPPONENT):  # black, white: as handed to `unpack`
            left[:] = ON_BOARD
            for k in range(n_stones):
                p = np.int64(board.stones[k])
                if board.cells[p] == colour:
                    left[p >> 6] &= ~bit_of(p)
            n_regions = _find_regions(left, regions, borders)
            beside = _relations(board, n_chains, colour, regions[:n_regions], borders)
            living, kept = _living(beside)
            first = (colour - OWN) * WORDS
            _mark_owned(board, beside, living, kept, regions, owners[game, first : first + WORDS])


@kernel
def _find_regions(left, regions, borders):
    """The connected parts of the set `left`, which is used up, and all cells next to each; returns how many there
    are."""
    n = 0
    for word in range(CELL_WORDS):
        while left[word] != 0:
            region, beside = regions[n], borders[n]
            region[:] = 0
            region[word] = _ONE << np.uint64(lowest_bit(left[word]))
            grown = True
            while grown:
                grown = False
                neighbours(region, beside)
                for k in range(CELL_WORDS):
                    new = beside[k] & left[k] & ~region[k]
                    region[k] |= new
                    grown |= new != 0
            for k in range(CELL_WORDS):
                left[k] &= ~region[k]
            n += 1
    return n


@kernel
def _relations(board, n_chains, colour, regions, borders):
    """(regions, chains) uint8: APART, ADJACENT or VITAL."""
    relation = np.zeros((len(regions), n_chains), np.uint8)
    for i in range(len(regions)):
        enemies = False
        for word in range(CELL_WORDS):
            enemies |= regions[i, word] & ~board.empty[word] != 0
        for c in range(n_chains):
            name = board.names[c]
            if board.cells[name] != colour or not _touches(board, name, borders[i]):
                continue
            all_liberties = True
            for word in range(CELL_WORDS):
                all_liberties &= regions[i, word] & board.empty[word] & ~board.liberty_sets[name, word] == 0
            relation[i, c] = VITAL if all_liberties or not enemies else ADJACENT
    return relation


@kernel
def _touches(board, name, cells):
    """Whether a stone of the chain called `name` is among `cells`."""
    for word in range(CELL_WORDS):
        bits = cells[word]
        while bits != 0:
            if board.chain[word * 64 + lowest_bit(bits)] == name:
                return True
            bits &= bits - _ONE
    return False


@kernel
def _living(relation):
    """(chains,) living and (regions,) kept, bool: Benson's iteration, from all that is there down to what supports
    itself."""
    n_regions, n_chains = relation.shape
    living, kept = np.ones(n_chains, np.bool_), np.ones(n_regions, np.bool_)
    changed = True
    while changed:
        changed = False
        for c in range(n_chains):
            if living[c]:
                vital = 0
                for i in range(n_regions):
                    vital += kept[i] and relation[i, c] == VITAL
                if vital < 2:
                    living[c] = False
                    changed = True
        for i in range(n_regions):
            if kept[i]:
                for c in range(n_chains):
                    if relation[i, c] != APART and not living[c]:
                        kept[i] = False
                        changed = True
                        break
    return living, kept


@kernel
def _mark_owned(board, relation, living, kept, regions, owned):
    """Set in the bitboard `owned` (6,) the stones of living chains and the points of the kept regions vital to one of
    them."""
    for c in range(len(living)):
        if living[c]:
            for p in range(PADDED):
                if board.chain[p] == board.names[c]:
                    set_bit(owned, p)
    for i in range(len(kept)):
        vital = False
        for c in range(len(living)):
            vital |= living[c] and relation[i, c] == VITAL
        if kept[i] and vital:
            for word in range(CELL_WORDS):
                bits = regions[i, word]
                while bits != 0:
                    set_bit(owned, word * 64 + lowest_bit(bits))
                    bits &= bits - _ONE
