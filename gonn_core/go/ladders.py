"""The ladder bitboard of a position (spec: GoNN 1.2): planes 23, 24 and 25 in one, as the store keeps it.

A set bit on a stone of a chain with one liberty says that it cannot escape though its owner moves first (plane 23); on
a stone of a chain with two, that its enemy captures it when he moves first (plane 24); on an empty point, that it is
such a first move (plane 25). Chains of both colours are asked, whoever is to move.
"""

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.ladder_search import is_captured, working_moves
from gonn_core.go.points import FROM_PADDED, TO_PADDED, WORDS
from gonn_core.go.rules import BOTTOM, HEAD, LIBERTIES, NEXT, NOWHERE, PADDED_POINT, two_liberties
from gonn_core.go.setup import keep_living, set_up
from gonn_core.go.workspace import make_workspace

_ONE = np.uint64(1)


@kernel
def set_bit(words, p):
    """Sets the point of padded point p in a bitboard of 6 words."""
    at = FROM_PADDED[p]
    words[at >> 6] |= _ONE << np.uint64(at & 63)


@kernel
def set_chain(board, words, stone):
    """Sets all stones of a chain in a bitboard of 6 words."""
    at = stone
    while True:
        set_bit(words, at)
        at = np.uint64(board[NEXT + at])
        if at == stone:
            break


@kernel
def add_answer(work, head, ko, out):
    """Asks the ladder question for a chain with one or two liberties and sets its bits in the bitboard `out` (6,)."""
    board = work.board
    captured = False
    if board[LIBERTIES + head] == 1:
        captured = is_captured(work, head, BOTTOM)
    else:
        p, q = two_liberties(board, head)
        for works in working_moves(work, head, p, q, ko):
            if works != NOWHERE:
                set_bit(out, works)
                captured = True
    if captured:
        set_chain(board, out, head)


@kernel
def find_ladders(work, stones, ko, out):
    """Ladder bitboard `out` (6,) of the position on `work.board`, each chain searched anew.

    `stones` (12,) are the same position's bitboards; `ko` is a padded point or NOWHERE.
    """
    board = work.board
    out[:] = 0
    for word in range(2 * WORDS):
        bits = stones[word]
        while bits != 0:
            p = PADDED_POINT[(word % WORDS) * 64 + lowest_bit(bits)]
            bits &= bits - _ONE
            if board[HEAD + p] == p and board[LIBERTIES + p] <= 2:
                add_answer(work, p, ko, out)


def ladder_bits(stones: np.ndarray, ko: int = -1, workspace=None) -> np.ndarray:
    """Ladder bitboard (6,) uint64 of any position: `stones` (12,) uint64, ko point 0..360 or -1.

    Chains without a liberty, which no legal position has, are taken off first. Searches nothing from a cache: the plain
    reference for `ladder_cache.find_ladders_cached`, and the way for positions outside games. `workspace` saves making
    one.
    """
    work = make_workspace() if workspace is None else workspace
    living = np.array(stones, np.uint64)
    keep_living(living)
    set_up(work.board, work.undo, living)
    out = np.zeros(WORDS, np.uint64)
    find_ladders(work, living, np.uint64(TO_PADDED[ko]) if ko >= 0 else NOWHERE, out)
    return out
