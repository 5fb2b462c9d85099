"""Liberties that a chain would have after a play, for every empty point and both sides (spec: GoNN 1.1).

The liberties of the new chain are the union of (a) the empty neighbours of the point, (b) neighbouring enemy stones
that are captured, (c) for each own chain that is joined, its adjacent points, without the point itself, that are empty
or captured. Legality is not tested. 4 and more count as 4.

Three kinds of points, by what is next to them:

* next to an own chain of five or more liberties, four at least remain: no plane;
* next to no own chain and nothing to capture: the number of empty neighbours;
* the others, some 70 a position for both sides together, are counted one by one.

Liberties after a play, counted up to six (spec: other systems 4.2, planes 18-31): the rule of liberties_after.py,
plainly done.

The kernel there stops at four, which spares it most of the counting; Cazenave's planes tell 4, 5 and 6 or more apart.
"""

import numpy as np

from gonn_core.features.chains import ADJACENT, CELL_WORDS, EAST, NORTH, OPPONENT, OWN, SOUTH, WEST, bit_of, count_bits
from gonn_core.go.jit import inlined, kernel
from gonn_core.go.points import PADDED, STRIDE

# Bits that describe a cell. Those of an opponent's stone are the next higher ones (multiplied by OPPONENT = 2).
_EMPTY = 1
_SMALL = 2  # stone of a chain with at most four liberties
_LARGE = 8  # stone of a chain with five or more liberties
_ATARI = 32  # stone of a chain with exactly one liberty

_FIRST, _LAST = STRIDE + 1, PADDED - STRIDE - 2  # first and last point on the padded board


@kernel
def _describe(board, beside, empty_beside):
    """For every point the descriptions of its neighbours, joined by `|`, and the number of empty ones: both (441,)
    uint8."""
    cells, liberties = board.cells, board.liberties
    kinds = np.empty(PADDED, np.uint8)
    for p in range(PADDED):
        # No liberty (the rim, or a dead chain, which no empty point is next to): no description.
        kind = (
            _LARGE
            if liberties[p] > 4
            else (_SMALL if liberties[p] > 1 else (_SMALL | _ATARI if liberties[p] == 1 else 0))
        )
        kinds[p] = np.uint8(_EMPTY) if cells[p] == 0 else np.uint8(kind) * cells[p]
    for p in range(_FIRST, _LAST + 1):
        north, west, east, south = kinds[p + NORTH], kinds[p + WEST], kinds[p + EAST], kinds[p + SOUTH]
        beside[p] = north | west | east | south
        empty_beside[p] = (north & _EMPTY) + (west & _EMPTY) + (east & _EMPTY) + (south & _EMPTY)


@inlined
def chain_of(own, board, p):
    """Name of the chain on p when it is of colour `own`, else 0."""
    name = np.int64(board.chain[p])  # read before the choice: a conditional read would be a branch
    return name if board.cells[p] == own else 0


@inlined
def empty_liberties(board, p, a, b, c, d):
    """Number of empty points that are p's neighbours or liberties of the chains a..d; p itself is among the latter."""
    sets = board.liberty_sets
    count = np.uint64(0)
    for word in range(CELL_WORDS):
        joined = sets[a, word] | sets[b, word] | sets[c, word] | sets[d, word]
        count += count_bits(joined | (ADJACENT[p, word] & board.empty[word]))
    return np.int64(count)


@inlined
def _is_one_of(name, a, b, c, d):
    """True when a stone's chain is one of the four, of which some may be 0, "no chain"."""
    return (name != 0) & ((name == a) | (name == b) | (name == c) | (name == d))


@kernel
def captured_liberties(board, n_stones, own, p, a, b, c, d):
    """Captured stones that become liberties when `own` plays p and joins the chains a..d: those next to p or to these
    chains."""
    chain = board.chain
    count = 0
    for k in range(n_stones):
        s = np.int64(board.stones[k])
        if board.liberties[s] == 1 and board.cells[s] != own and board.liberty_sets[chain[s], p >> 6] & bit_of(p) != 0:
            touches = ADJACENT[s, p >> 6] & bit_of(p) != 0
            touches |= _is_one_of(chain[s + NORTH], a, b, c, d) | _is_one_of(chain[s + WEST], a, b, c, d)
            touches |= _is_one_of(chain[s + EAST], a, b, c, d) | _is_one_of(chain[s + SOUTH], a, b, c, d)
            count += touches
    return count


@kernel
def liberties_after(board, n_stones, n_shores, after):
    """Fill `after` (2, 441) uint8: liberties of the new chain, at most 4, when own (row 0) or opponent (row 1) plays a
    point.

    Cells that are not empty hold the liberties of the chain that is there, at most 5 (0 on the rim).
    """
    cells = board.cells
    beside, empty_beside = np.empty(PADDED, np.uint8), np.empty(PADDED, np.uint8)
    points = np.empty(PADDED, np.uint16)
    _describe(board, beside, empty_beside)
    for side in range(2):
        own, opponent = (OWN, OPPONENT) if side == 0 else (OPPONENT, OWN)
        small, large, atari = _SMALL * own, _LARGE * own, _ATARI * opponent
        for p in range(_FIRST, _LAST + 1):
            count = np.uint8(4) if (beside[p] & large) != 0 else empty_beside[p]
            after[side, p] = count if cells[p] == 0 else np.uint8(min(board.liberties[p], np.uint16(5)))
        n = 0
        for k in range(n_shores):
            p = board.shores[k]
            points[n] = p
            n += ((beside[p] & (small | atari)) != 0) & ((beside[p] & large) == 0)
        for k in range(n):
            p = np.int64(points[k])
            a, b = chain_of(own, board, p + NORTH), chain_of(own, board, p + WEST)
            c, d = chain_of(own, board, p + EAST), chain_of(own, board, p + SOUTH)
            count = empty_liberties(board, p, a, b, c, d) - ((beside[p] & small) != 0)
            if (beside[p] & atari) != 0:
                count += captured_liberties(board, n_stones, own, p, a, b, c, d)
            after[side, p] = min(count, 4)


MOST = 6


@kernel
def wide_liberties_after(board, n_stones, n_shores, after):
    """Fill `after` (3, 441) uint8: liberties of the new chain when OWN or OPPONENT plays the empty cell, captures
    first.

    From 0 (suicide) to 6 (or more); cells that are not empty hold numbers without a meaning.
    """
    cells, liberties = board.cells, board.liberties
    for p in range(STRIDE + 1, PADDED - STRIDE - 1):
        empties = (
            np.uint8(cells[p + NORTH] == 0)
            + np.uint8(cells[p + WEST] == 0)
            + np.uint8(cells[p + EAST] == 0)
            + np.uint8(cells[p + SOUTH] == 0)
        )
        after[OWN, p] = empties
        after[OPPONENT, p] = empties
    for k in range(n_shores):
        p = np.int64(board.shores[k])
        north, west, east, south = p + NORTH, p + WEST, p + EAST, p + SOUTH
        for own in (OWN, OPPONENT):
            a, b, c, d = (
                chain_of(own, board, north),
                chain_of(own, board, west),
                chain_of(own, board, east),
                chain_of(own, board, south),
            )
            if liberties[a] > MOST or liberties[b] > MOST or liberties[c] > MOST or liberties[d] > MOST:
                after[own, p] = MOST
                continue
            count = np.int64(after[own, p])
            if a | b | c | d != 0:
                count = empty_liberties(board, p, a, b, c, d) - 1  # p is a liberty of what it joins
            captures = False  # a neighbour in atari has no other liberty than p
            for q in (north, west, east, south):
                captures |= (liberties[q] == 1) & (cells[q] != own)
            if captures:
                count += captured_liberties(board, n_stones, own, p, a, b, c, d)
            after[own, p] = min(count, MOST)
