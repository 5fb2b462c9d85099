"""Ladder answers kept from move to move of a game: only the chains whose ladder a move can have changed are searched
again.

*Footprint* of an answer: the chain's stones, every point played in its search and every stone of a defender chain
joined there, all grown by two steps. *Change* of a move: its point, the points it emptied, and all stones of all chains
on or next to those. An answer stays true as long as its footprint and the changes since are disjoint: a search looks
only at points and chains at most two steps from the chain and from what it has played (the last liberty, and what is
next to it), and of such a chain at its liberty count, which changes only with a point next to it, and then the whole
chain is in the change.

The answer for a chain with two liberties also hangs on the board's ko ban when the banned point is one of them: then it
is neither taken from the cache nor kept.
"""

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.ladder_search import add_answer, mark, mark_chain
from gonn_core.go.points import BLACK, PADDED, STRIDE, WHITE, WORDS
from gonn_core.go.rules import BOTTOM, HEAD, LIBERTIES, NEXT, NOWHERE, captured_head, chains_around, two_liberties
from gonn_core.go.workspace import PADDED_WORDS, REUSED

_ONE, _63 = np.uint64(1), np.uint64(63)
_ROW, _ROW_BACK = np.uint64(STRIDE), np.uint64(64 - STRIDE)


@kernel
def start_game(work):
    """Empties the cache for the position on the board: everything in it is new."""
    work.valid[:] = False
    work.watched[:] = 0
    work.changed[:] = 0
    for p in range(PADDED):
        if work.board[p] == BLACK or work.board[p] == WHITE:
            mark(work.changed, np.uint64(p))


@kernel
def _mark_chains_around(board, words, p, colour):
    for head in chains_around(board, p, colour):
        if head != NOWHERE:
            mark_chain(board, words, head)


@kernel
def note_move(work, p, colour, captured_chains):
    """Notes the change of the move by `colour` on p just played from undo height 0, which captured that many chains."""
    board, changed = work.board, work.changed
    mark_chain(board, changed, p)
    _mark_chains_around(board, changed, p, np.uint64(3) - colour)
    for i in range(captured_chains):
        head = captured_head(work.undo, BOTTOM, i)
        stone = head
        while True:
            mark(changed, stone)
            _mark_chains_around(board, changed, stone, colour)
            stone = np.uint64(board[NEXT + stone])
            if stone == head:
                break


@kernel
def _grow(source, out):
    """`out` = padded bitboard `source` with all neighbours; points of the rim do no harm."""
    before, here = np.uint64(0), source[0]
    for i in range(PADDED_WORDS):
        after = source[i + 1] if i + 1 < PADDED_WORDS else np.uint64(0)
        grown = here | (here << _ONE) | (before >> _63) | (here >> _ONE) | (after << _63)
        grown |= (here << _ROW) | (before >> _ROW_BACK) | (here >> _ROW) | (after << _ROW_BACK)
        out[i] = grown
        before, here = here, after


@kernel
def _take_in_changes(work):
    """Forgets the answers of the changed points and sees which of them are heads of chains with one or two liberties
    now."""
    board = work.board
    for word in range(PADDED_WORDS):
        bits = work.changed[word]
        watched = work.watched[word] & ~bits
        while bits != 0:
            lowest = bits & (~bits + _ONE)
            p = np.uint64(word * 64 + lowest_bit(bits))
            bits ^= lowest
            work.valid[p] = False
            is_stone = (board[p] == BLACK) | (board[p] == WHITE)
            if is_stone & (board[HEAD + p] == p) and board[LIBERTIES + p] <= 2:
                watched |= lowest
        work.watched[word] = watched


@kernel
def _hangs_on_ko(board, head, ko):
    """True when the ko point is a liberty of a chain with two."""
    if ko == NOWHERE or board[LIBERTIES + head] != 2:
        return False
    p, q = two_liberties(board, head)
    return p == ko or q == ko


@kernel
def _is_disjoint(footprints, head, changed):
    common = np.uint64(0)
    for i in range(PADDED_WORDS):
        common |= footprints[head, i] & changed[i]
    return common == 0


@kernel
def _search_anew(work, head, ko):
    """Answers for the chain `head` by search and keeps the answer with its footprint."""
    touched, footprint, bits = work.touched, work.footprints[head], work.answers[head]
    touched[:] = 0
    mark_chain(work.board, touched, head)
    bits[:] = 0
    add_answer(work, head, ko, bits)
    _grow(touched, footprint)
    _grow(footprint, footprint)


@kernel
def find_ladders_cached(work, ko, out):
    """The same bits as `ladders.find_ladders` for the position on the board, the next one of a game, sooner.

    The game was begun by `start_game`, and all its moves were noted by `note_move`.
    """
    board, answers = work.board, work.answers
    _take_in_changes(work)
    out[:] = 0
    for word in range(PADDED_WORDS):
        bits = work.watched[word]
        while bits != 0:
            head = np.uint64(word * 64 + lowest_bit(bits))
            bits &= bits - _ONE
            hangs_on_ko = _hangs_on_ko(board, head, ko)
            if work.valid[head] and not hangs_on_ko and _is_disjoint(work.footprints, head, work.changed):
                work.counters[REUSED] += 1
            else:
                _search_anew(work, head, ko)
                work.valid[head] = not hangs_on_ko
            for i in range(WORDS):
                out[i] |= answers[head, i]
    work.changed[:] = 0
