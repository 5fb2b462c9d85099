"""Ladder answers kept from move to move of a game: only the chains whose ladder a move can have changed are searched again.

*Footprint* of an answer: the chain's stones, every point played in its search and every stone of a defender chain joined
there, all grown by three steps. *Change* of a move: its point, the points it emptied, and all stones of all chains on or next
to those. An answer stays true as long as its footprint and the changes since are disjoint: a search looks at the empty points
and chains at most two steps from what it has played, once at the neighbours of those, and of a chain at its liberty count,
which changes only with a point next to the chain, and then the whole chain is in the change.

The answer for a chain with two liberties also hangs on the board's ko ban when the banned point is one of them: then it is
neither taken from the cache nor kept.
"""

import numpy as np

from gonn_core.go.jit import inlined, kernel, lowest_bit
from gonn_core.go.ladder_search import mark, mark_chain
from gonn_core.go.ladders import answer, mark_answer
from gonn_core.go.points import EMPTY, STRIDE, WALL, WORDS
from gonn_core.go.rules import (
    HEAD,
    LIBERTIES,
    NEXT,
    NOWHERE,
    PADDED_POINT,
    captured_head,
    first_liberties,
    neighbours,
)
from gonn_core.go.workspace import PADDED_WORDS, REUSED

_ONE, _63 = np.uint64(1), np.uint64(63)
_ROW, _ROW_BACK = np.uint64(STRIDE), np.uint64(64 - STRIDE)

VALID, IS_CAPTURED, FIRST_MOVE, SECOND_MOVE = range(4)
"""Columns of `Workspace.answers`: 1 when there is an answer; is the chain captured; the working moves or NOWHERE."""


@kernel
def forget_answers(work):
    """Empties the cache: a new game begins."""
    work.answers[:, VALID] = 0
    work.changed[:] = 0


@kernel
def _note_point(board, changed, p):
    """Adds p and the chains on and next to it to the change."""
    mark(changed, p)
    if board[p] != EMPTY:
        mark_chain(board, changed, p)
    for q in neighbours(p):
        if board[q] != EMPTY and board[q] != WALL:
            mark_chain(board, changed, q)


@kernel
def note_move(work, p, captured_chains):
    """Notes the change of the move on p just played from undo height 0, which captured that many chains."""
    board, changed = work.board, work.changed
    _note_point(board, changed, p)
    for i in range(captured_chains):
        head = captured_head(work.undo, 0, i)
        stone = head
        while True:
            _note_point(board, changed, stone)
            stone = np.uint64(board[NEXT + stone])
            if stone == head:
                break


@inlined
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
def _still_true(work, head, ko):
    """True when the cached answer for the chain `head` holds on the present board."""
    if work.answers[head, VALID] == 0:
        return False
    footprint = work.footprints[head]
    for i in range(PADDED_WORDS):
        if footprint[i] & work.changed[i] != 0:
            return False
    return not _hangs_on_ko(work.board, head, ko)


@kernel
def _hangs_on_ko(board, head, ko):
    """True when the ko point is a liberty of a chain with two."""
    if ko == NOWHERE or board[LIBERTIES + head] != 2:
        return False
    p, q = first_liberties(board, head, 2)
    return p == ko or q == ko


@kernel
def _search_anew(work, head, ko):
    """Answers for the chain `head` by search and keeps the answer."""
    touched, footprint, kept = work.touched, work.footprints[head], work.answers[head]
    touched[:] = 0
    mark_chain(work.board, touched, head)
    captured, first, second = answer(work, head, ko)
    _grow(touched, footprint)
    _grow(footprint, touched)
    _grow(touched, footprint)
    kept[VALID] = not _hangs_on_ko(work.board, head, ko)
    kept[IS_CAPTURED] = captured
    kept[FIRST_MOVE] = first
    kept[SECOND_MOVE] = second


@kernel
def find_ladders_cached(work, stones, ko, out):
    """`ladders.find_ladders` for the next position of a game whose moves were noted by `note_move`: the same bits, sooner.

    Must be called for positions of one game in order; it may be left out for some of them.
    """
    board, answers = work.board, work.answers
    out[:] = 0
    for word in range(2 * WORDS):
        bits = stones[word]
        while bits != 0:
            p = PADDED_POINT[(word % WORDS) * 64 + lowest_bit(bits)]
            bits &= bits - _ONE
            if board[HEAD + p] != p:
                continue
            if board[LIBERTIES + p] > 2:
                answers[p, VALID] = 0
                continue
            if _still_true(work, p, ko):
                work.counters[REUSED] += 1
            else:
                _search_anew(work, p, ko)
            captured = answers[p, IS_CAPTURED] != 0
            mark_answer(board, p, captured, np.uint64(answers[p, FIRST_MOVE]), np.uint64(answers[p, SECOND_MOVE]), out)
    work.changed[:] = 0
