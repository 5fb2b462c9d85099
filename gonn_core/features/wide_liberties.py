"""Liberties after a play, counted up to six (spec: other systems 4.2, planes 18-31): the rule of liberties_after.py, plainly done.

The kernel there stops at four, which spares it most of the counting; Cazenave's planes tell 4, 5 and 6 or more apart.
"""

import numpy as np

from gonn_core.features.cell_sets import EAST, NORTH, SOUTH, WEST
from gonn_core.features.liberties_after import captured_liberties, chain_of, empty_liberties
from gonn_core.go.jit import kernel

MOST = 6


@kernel
def wide_liberties_after(board, n_stones, own, p):
    """Liberties of the new chain when `own` (OWN or OPPONENT) plays the empty cell p, captures first: 0 (suicide) … 6 (or more)."""
    cells, liberties = board.cells, board.liberties
    north, west, east, south = p + NORTH, p + WEST, p + EAST, p + SOUTH
    empties = np.int64(cells[north] == 0) + np.int64(cells[west] == 0) + np.int64(cells[east] == 0) + np.int64(cells[south] == 0)
    if empties == 4:
        return empties
    a, b, c, d = chain_of(own, board, north), chain_of(own, board, west), chain_of(own, board, east), chain_of(own, board, south)
    if liberties[a] > MOST or liberties[b] > MOST or liberties[c] > MOST or liberties[d] > MOST:
        return MOST
    joins = (a | b | c | d) != 0
    count = empty_liberties(board, p, a, b, c, d) - joins if joins else empties  # p is a liberty of what it joins
    # A neighbour in atari has no other liberty than p.
    for q in (north, west, east, south):
        if liberties[q] == 1 and cells[q] != own:
            count += captured_liberties(board, n_stones, own, p, a, b, c, d)
            break
    return min(count, MOST)
