"""Ladder search (spec: GoNN 1.2): is a chain captured when its owner, or its enemy, moves first?

The *defender* owns the chain, the *attacker* wants it. Defender to move: he escapes with two liberties, or when the
attacker has just taken a ko; else he tries to capture any attacker chain in atari next to his own, then to extend.
Attacker to move: he has it with one liberty left, has lost it with three; with two he tries both. The search keeps its
own stack and plays on the board.

Each shortcut below answers at once what a search would find, the definition's own prunings of attacker moves included:
none changes a result (tests compare with a plain recursive solver).

The ladder bitboard of a position (spec: GoNN 1.2): planes 23, 24 and 25 in one, as the store keeps it.

A set bit on a stone of a chain with one liberty says that it cannot escape though its owner moves first (plane 23); on
a stone of a chain with two, that its enemy captures it when he moves first (plane 24); on an empty point, that it is
such a first move (plane 25). Chains of both colours are searched, whichever side is to move.
"""

from typing import NamedTuple

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.points import FROM_PADDED, PADDED, STRIDE, TO_PADDED, WORDS
from gonn_core.go.rules import (
    BOARD_LENGTH,
    BOTTOM,
    HEAD,
    LIBERTIES,
    NEXT,
    NOWHERE,
    PADDED_POINT,
    UNDO_PER_MOVE,
    chains_around,
    empties_around,
    is_legal,
    keep_living,
    neighbours,
    only_liberty,
    play,
    set_up,
    take_back,
    two_liberties,
)

MAX_DEPTH = 722
"""Deepest ladder, in plies (spec: GoNN 1.2, twice the points of the board); a deeper one counts as capped."""
NODE_LIMIT = 50_000
"""Nodes after which a ladder search counts as capped: the chain then escapes."""
CANDIDATES = 16_384
"""Room for the moves still to be tried along one line of a search."""
PADDED_WORDS = (PADDED + 63) // 64

SEARCHES, NODES, REUSED, CAPPED = range(4)
"""Counters: ladder searches, their nodes, answers taken from the cache, searches that hit a limit."""


class SearchWorkspace(NamedTuple):
    """One thread's memory; two threads must not share one."""

    board: np.ndarray  # (BOARD_LENGTH,) uint16, see rules.py
    undo: np.ndarray  # uint16, see rules.py: room for the deepest search after the move that opens it
    frames: np.ndarray  # (MAX_DEPTH, 2) int64: next and end of a node's moves in `candidates`
    candidates: np.ndarray  # (CANDIDATES,) uint16
    touched: np.ndarray  # (7,) uint64, padded bitboard: what the current search depends on
    footprints: np.ndarray  # (441, 7) uint64: the same, grown, of each cached answer (replay.py), by the chain's head
    answers: np.ndarray  # (441, 6) uint64: the ladder bits of each cached answer
    valid: np.ndarray  # (441,) bool: is there an answer
    watched: np.ndarray  # (7,) uint64, padded bitboard: heads of the chains with one or two liberties
    changed: np.ndarray  # (7,) uint64, padded bitboard: what the moves since the last look at the ladders changed
    counters: np.ndarray  # (4,) int64
    node_limit: np.ndarray  # (1,) int64


def make_workspace(node_limit: int = NODE_LIMIT) -> SearchWorkspace:
    """Fresh memory for one thread (about 150 KB). Another node limit than the default may give other ladder bits: for
    tests."""
    return SearchWorkspace(
        board=np.zeros(BOARD_LENGTH, np.uint16),
        undo=np.zeros((MAX_DEPTH + 1) * UNDO_PER_MOVE, np.uint16),
        frames=np.zeros((MAX_DEPTH, 2), np.int64),
        candidates=np.zeros(CANDIDATES, np.uint16),
        touched=np.zeros(PADDED_WORDS, np.uint64),
        footprints=np.zeros((PADDED, PADDED_WORDS), np.uint64),
        answers=np.zeros((PADDED, WORDS), np.uint64),
        valid=np.zeros(PADDED, np.bool_),
        watched=np.zeros(PADDED_WORDS, np.uint64),
        changed=np.zeros(PADDED_WORDS, np.uint64),
        counters=np.zeros(4, np.int64),
        node_limit=np.array([node_limit], np.int64),
    )


OPEN, CAPTURED, ESCAPED = range(3)

_ONE, _ROW = np.uint64(1), np.uint64(STRIDE)


@kernel
def mark(words, p):
    """Sets padded point p in a padded bitboard."""
    words[p >> np.uint64(6)] |= _ONE << (p & np.uint64(63))


@kernel
def _is_marked(words, p):
    return (words[p >> np.uint64(6)] >> (p & np.uint64(63))) & _ONE != 0


@kernel
def mark_chain(board, words, stone):
    """Sets all stones of a chain in a padded bitboard."""
    at = stone
    while True:
        mark(words, at)
        at = np.uint64(board[NEXT + at])
        if at == stone:
            break


@kernel
def are_adjacent(p, q):
    """True when two padded points are neighbours."""
    return p - q == _ONE or q - p == _ONE or p - q == _ROW or q - p == _ROW


@kernel
def escapes_by(board, p, taken, head, defender):
    """True when the defender, answering an atari, surely gets three liberties by playing his last liberty p.

    Enough are p's empty neighbours, or those of a chain joined at p. `taken`: the liberty that the attacker is about to
    take to give this atari, or NOWHERE when the chain is in atari now.
    """
    if empties_around(board, p) - np.int64(are_adjacent(p, taken)) >= 3:
        return True
    needed = (
        4 if taken == NOWHERE else 5
    )  # of the joined chain's liberties p is gone afterwards, and `taken` may be one too
    for other in chains_around(board, p, defender):
        if other != NOWHERE and other != head and board[LIBERTIES + other] >= needed:
            return True
    return False


@kernel
def _defender_moves(board, candidates, end, head, defender):
    """Node with the defender in atari: (verdict, new end of `candidates`)."""
    start = end
    attacker = np.uint64(3) - defender
    liberty = only_liberty(board, head)
    if escapes_by(board, liberty, NOWHERE, head, defender):
        return ESCAPED, start
    empties = empties_around(board, liberty)
    legal = empties > 0  # an extension that is not suicide
    joins_or_captures = False
    for other in chains_around(board, liberty, defender):
        if other != NOWHERE and other != head:
            joins_or_captures = True
            legal |= board[LIBERTIES + other] > 1
    for other in chains_around(board, liberty, attacker):
        if other != NOWHERE and board[LIBERTIES + other] == 1:
            joins_or_captures = legal = True

    stone = head
    while True:
        for q in neighbours(stone):
            if board[q] == attacker and board[LIBERTIES + board[HEAD + q]] == 1:
                capture = only_liberty(board, np.uint64(board[HEAD + q]))
                known = capture == liberty
                for i in range(start, end):
                    known |= candidates[i] == capture
                if not known:
                    candidates[end] = capture
                    end += 1
        stone = np.uint64(board[NEXT + stone])
        if stone == head:
            break

    if legal and (joins_or_captures or empties == 2):  # a plain extension to one liberty is captured at once
        candidates[end] = liberty
        end += 1
    return (OPEN if end > start else CAPTURED), end


@kernel
def _attacker_moves(board, candidates, end, head, defender, ko):
    """Node with the attacker to move: (verdict, new end of `candidates`)."""
    liberties = board[LIBERTIES + head]
    if liberties <= 1:
        return CAPTURED, end
    if liberties >= 3:
        return ESCAPED, end
    attacker = np.uint64(3) - defender
    p, q = two_liberties(board, head)
    try_p = not escapes_by(board, q, p, head, defender)
    try_q = not escapes_by(board, p, q, head, defender)
    if try_p and try_q and empties_around(board, q) > empties_around(board, p):
        p, q = q, p
    start = end
    if try_p and is_legal(board, p, attacker, ko):
        candidates[end] = p
        end += 1
    if try_q and is_legal(board, q, attacker, ko):
        candidates[end] = q
        end += 1
    return (OPEN if end > start else ESCAPED), end


@kernel
def is_captured(work, stone, top):
    """True when the chain at `stone` (one liberty, its owner to move) cannot escape. The ko ban of the board is
    ignored.

    Adds to `work.touched` all the points that the answer hangs on but for their surroundings: the points played and the
    stones of chains that the defender joined (the caller adds the chain itself). Plays from height `top` of the undo
    stack and leaves the board as it was. A search beyond the node limit or `MAX_DEPTH` plies counts as escape, and in
    `counters`.
    """
    board, undo, frames, candidates, touched = work.board, work.undo, work.frames, work.candidates, work.touched
    defender = np.uint64(board[stone])
    attacker = np.uint64(3) - defender
    depth = 0  # the defender moves at even depth
    end = np.int64(0)
    ko = NOWHERE
    nodes = 0
    while True:
        nodes += 1
        head = np.uint64(board[HEAD + stone])
        start = end
        if nodes > work.node_limit[0] or depth == MAX_DEPTH or end > CANDIDATES - PADDED_WORDS * 64:
            for _ in range(depth):
                top = take_back(board, undo, top)
            work.counters[CAPPED] += 1
            verdict = ESCAPED
            depth = 0
        elif depth % 2 == 1:
            verdict, end = _attacker_moves(board, candidates, end, head, defender, ko)
        elif board[LIBERTIES + head] >= 2 or ko != NOWHERE:
            verdict = ESCAPED
        else:
            verdict, end = _defender_moves(board, candidates, end, head, defender)

        if verdict == OPEN:
            frames[depth, 0], frames[depth, 1] = start, end
            depth += 1
        else:
            captured = verdict == CAPTURED
            while True:  # back to the deepest node that this does not decide
                if depth == 0:
                    work.counters[NODES] += nodes
                    work.counters[SEARCHES] += 1
                    return captured
                top = take_back(board, undo, top)
                defends = depth % 2 == 1
                if captured == defends and frames[depth - 1, 0] < frames[depth - 1, 1]:
                    break
                depth -= 1

        move = np.uint64(candidates[frames[depth - 1, 0]])
        frames[depth - 1, 0] += 1
        end = frames[depth - 1, 1]
        mark(touched, move)
        if depth % 2 == 1:
            for other in chains_around(board, move, defender):
                if other != NOWHERE and not _is_marked(touched, other):
                    mark_chain(board, touched, other)
            top, ko, _ = play(board, undo, top, move, defender)
        else:
            top, ko, _ = play(board, undo, top, move, attacker)


@kernel
def working_moves(work, head, p, q, ko):
    """The attacker's moves, of the liberties p and q of a chain with two, that capture it: (p or NOWHERE, q or
    NOWHERE).

    His first move obeys the board's ko ban, whichever side it binds; a ko that it takes is forgotten. Adds to
    `work.touched` as `is_captured` does.
    """
    board, undo = work.board, work.undo
    defender = np.uint64(board[head])
    attacker = np.uint64(3) - defender
    works_p = works_q = NOWHERE
    for move, other in ((p, q), (q, p)):
        if escapes_by(board, other, move, head, defender) or not is_legal(board, move, attacker, ko):
            continue
        mark(work.touched, move)
        top, _, _ = play(board, undo, BOTTOM, move, attacker)
        captured = board[LIBERTIES + board[HEAD + head]] == 1 and is_captured(work, head, top)
        take_back(board, undo, top)
        if captured:
            if move == p:
                works_p = move
            else:
                works_q = move
    return works_p, works_q


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
    reference for `replay.find_ladders_cached`, and the way for positions outside games. `workspace` saves making
    one.
    """
    work = make_workspace() if workspace is None else workspace
    living = np.array(stones, np.uint64)
    keep_living(living)
    set_up(work.board, work.undo, living)
    out = np.zeros(WORDS, np.uint64)
    find_ladders(work, living, np.uint64(TO_PADDED[ko]) if ko >= 0 else NOWHERE, out)
    return out
