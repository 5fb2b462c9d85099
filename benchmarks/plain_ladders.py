"""Cazenave's ladder planes by the plain method: every legal move is played, then whatever it may have changed is
searched again.

What `gonn_core.features.cazenave_ladders` made before it chose its moves: the slow, obvious reference for it, and the
baseline of its figures. The definitions of the planes stand there.
"""

import numpy as np

from gonn_core.features.cazenave_ladders import (
    ATARI,
    CAPTURE,
    CAUGHT,
    ESCAPE,
    OPPONENT_CAUGHT,
    OPPONENT_THREAT,
    THREAT,
    TWO_LIBERTIES,
)
from gonn_core.features.chains import CELL_WORDS, neighbours
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.ladder_search import mark_chain, working_moves
from gonn_core.go.layout import FLAGS, KO, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, FROM_PADDED, POINTS, SYMMETRY, WHITE, WORDS
from gonn_core.go.replay import note_move
from gonn_core.go.rules import (
    BOTTOM,
    HEAD,
    LIBERTIES,
    NOWHERE,
    PADDED_POINT,
    is_legal,
    keep_living,
    only_liberty,
    play,
    set_up,
    take_back,
    two_liberties,
)


@kernel
def _falls(work, stone, ko):
    """True when the enemy of the chain at `stone`, to move, captures it now or by a ladder; `ko` is banned to him."""
    board = work.board
    head = np.uint64(board[HEAD + stone])
    if board[LIBERTIES + head] == 1:
        return is_legal(board, only_liberty(board, head), np.uint64(3) - np.uint64(board[stone]), ko)
    if board[LIBERTIES + head] != 2:
        return False
    p, q = two_liberties(board, head)
    works_p, works_q = working_moves(work, head, p, q, ko)
    return works_p != NOWHERE or works_q != NOWHERE


@kernel
def _find_weak_chains(work, heads, falls, footprints):
    """Heads of the chains with one to three liberties; which of them fall, and what that hangs on. Returns their
    number."""
    board, touched, grown = work.board, work.touched, np.empty(CELL_WORDS, np.uint64)
    n = 0
    for p in PADDED_POINT:
        is_stone = (board[p] == BLACK) | (board[p] == WHITE)
        if not (is_stone and board[HEAD + p] == p and board[LIBERTIES + p] <= 3):
            continue
        heads[n], falls[n] = p, False
        if board[LIBERTIES + p] <= 2:
            touched[:] = 0
            mark_chain(board, touched, p)
            falls[n] = _falls(work, p, NOWHERE)
            for _ in range(2):
                neighbours(touched, grown)
                for word in range(CELL_WORDS):
                    touched[word] |= grown[word]
            footprints[n] = touched
        n += 1
    return n


@kernel
def _is_changed(footprint, changed):
    common = np.uint64(0)
    for word in range(CELL_WORDS):
        common |= footprint[word] & changed[word]
    return common != 0


@kernel
def _escapes(work, mover, ko, heads, falls, footprints, n):
    """After a move by `mover`: True when a chain of his that would have fallen does not."""
    for k in range(n):
        stone = np.uint64(heads[k])
        if (
            falls[k]
            and work.board[stone] == mover
            and _is_changed(footprints[k], work.changed)
            and not _falls(work, stone, ko)
        ):
            return True
    return False


@kernel
def _threatens(work, mover, was_three, heads, falls, footprints, n):
    """After a move by `mover`: True when a chain of his enemy has two liberties and would fall, which it would not
    before."""
    board = work.board
    for k in range(n):
        stone = np.uint64(heads[k])
        if falls[k] or board[stone] != np.uint64(3) - mover or board[LIBERTIES + board[HEAD + stone]] != 2:
            continue
        if (was_three[k] or _is_changed(footprints[k], work.changed)) and _falls(work, stone, NOWHERE):
            return True
    return False


@kernel
def _mark_moves(work, trying, mover, is_own, ko, chains, first, image, marks, n):
    """Appends the marks of the moves of one side, each played and taken back."""
    heads, falls, was_three, footprints, n_chains = chains
    board = work.board
    caught, threat = (first[CAUGHT], first[THREAT]) if is_own else (first[OPPONENT_CAUGHT], first[OPPONENT_THREAT])
    for point in range(POINTS):
        p = PADDED_POINT[point]
        if not is_legal(board, p, mover, ko):
            continue
        target = image[point]
        top, ko_after, captured = play(board, trying.undo, BOTTOM, p, mover)
        work.changed[:] = 0
        note_move(trying, p, mover, captured)
        if _falls(work, p, ko_after):
            marks[n] = caught + target
            n += 1
        if is_own and _escapes(work, mover, ko_after, heads, falls, footprints, n_chains):
            marks[n] = first[ESCAPE] + target
            n += 1
        if _threatens(work, mover, was_three, heads, falls, footprints, n_chains):
            marks[n] = threat + target
            n += 1
        take_back(board, trying.undo, top)
    return n


@kernel
def _mark_captures(work, own, ko, heads, falls, n_chains, first, image, marks, n):
    """Appends the marks of own's moves that start a working ladder."""
    board = work.board
    for k in range(n_chains):
        head = np.uint64(heads[k])
        if falls[k] and board[head] != own and board[LIBERTIES + head] == 2:
            p, q = two_liberties(board, head)
            for works in working_moves(work, head, p, q, ko):
                if works != NOWHERE:
                    marks[n] = first[CAPTURE] + image[FROM_PADDED[works]]
                    n += 1
    return n


@kernel
def _mark_stones(board, ladders, first, image, marks, n):
    """Appends the marks of the stones of the store's ladder bitboard, chains in atari and of two liberties apart."""
    for word in range(WORDS):
        bits = ladders[word]
        while bits != 0:
            point = word * 64 + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            p = PADDED_POINT[point]
            if board[p] == BLACK or board[p] == WHITE:
                plane = ATARI if board[LIBERTIES + board[HEAD + p]] == 1 else TWO_LIBERTIES
                marks[n] = first[plane] + image[point]
                n += 1
    return n


@kernel
def mark_ladders_plainly(source, rows, symmetries, first, work, trying, marks, counts):
    """Appends to the marks (B, ROOM) of the positions at `rows` those of the eight ladder planes, whose first marks are
    `first`.

    A chain without a liberty, which no store has, is not there for this purpose. `work` and `trying` are from
    `make_workspaces`.
    """
    heads, falls, was_three = np.empty(POINTS, np.int64), np.empty(POINTS, np.bool_), np.empty(POINTS, np.bool_)
    footprints, stones = np.empty((POINTS, CELL_WORDS), np.uint64), np.empty(2 * WORDS, np.uint64)
    board = work.board
    for j in range(len(rows)):
        row, image, n = rows[j], SYMMETRY[symmetries[j]], counts[j]
        stones[:] = source.stones[row]
        keep_living(stones)
        set_up(board, work.undo, stones)
        own = np.uint64(WHITE if source.moves[row, FLAGS] & WHITE_TO_MOVE else BLACK)
        banned = np.int64(source.moves[row, KO])
        ko = PADDED_POINT[banned] if banned >= 0 else NOWHERE
        n_chains = _find_weak_chains(work, heads, falls, footprints)
        for k in range(n_chains):
            was_three[k] = board[LIBERTIES + np.uint64(heads[k])] == 3
        chains = (heads, falls, was_three, footprints, n_chains)
        n = _mark_stones(board, source.ladders[row], first, image, marks[j], n)
        n = _mark_captures(work, own, ko, heads, falls, n_chains, first, image, marks[j], n)
        n = _mark_moves(work, trying, own, True, ko, chains, first, image, marks[j], n)
        n = _mark_moves(work, trying, np.uint64(3) - own, False, NOWHERE, chains, first, image, marks[j], n)
        counts[j] = n
