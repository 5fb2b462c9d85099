"""Liberties after a play, counted up to six (spec: other systems 4.2, planes 18-31): the rule of liberties_after.py,
plainly done.

The kernel there stops at four, which spares it most of the counting; Cazenave's planes tell 4, 5 and 6 or more apart.
"""

import numpy as np

from gonn_core.features.cell_sets import EAST, NORTH, SOUTH, WEST
from gonn_core.features.chains import OPPONENT, OWN
from gonn_core.features.liberties_after import captured_liberties, chain_of, empty_liberties
from gonn_core.go.jit import kernel
from gonn_core.go.points import PADDED, STRIDE

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
