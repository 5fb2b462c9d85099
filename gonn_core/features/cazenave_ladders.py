"""Cazenave's ladder planes: what the ladder solver says before and after every move (spec: other systems 4.2, planes
32-38 and 44).

The source names the planes without defining them; these are our readings. A chain *falls* when its enemy, moving now,
has it: it has one liberty, or two and a ladder works. *Before* a move means that its player passes, so no ko is banned;
after it the ko that it takes is.

    ladder_move_caught           own's legal move leaves its own chain so that it falls
    ladder_two_liberties         stones of chains of two liberties that fall, as in GoNN's plane 24
    ladder_atari                 stones of chains in atari that cannot get away, as in GoNN's plane 23
    ladder_capture               own's move starts a ladder that works
    ladder_escape                own's legal move after which an own chain that would fall does not: running,
                                 capturing, ladder breakers
    ladder_threat                own's legal move that brings an opponent's chain to fall by a second one; that is left
                                 with two liberties
    ladder_opponent_threat       the same for the opponent's moves
    ladder_opponent_move_caught  the mirror of ladder_move_caught; the text says 45 planes and names 44: this is ours

Only moves are tried that may leave their own chain with two liberties or fewer, or that matter to an answer
(see below); a chain with two liberties after an enemy's move had two, or three of which he took one. Each search
is the one that trying every legal move would make, node for node, so its limit decides the same. Searching takes most
of the time that is left, some 1,500 nodes a position: too much for a GPU's input, for which `stored_ladders` keeps the
marks of a store's rows.

An answer depends on its footprint (the argument is in gonn_core/go/replay.py), and a move changes its point, the points
that it empties, and all chains on or next to those. So a move matters to an answer when it is inside the footprint,
next to a chain with a stone in there, or captures a chain that has one itself or is next to a chain that does. Of some
five hundred moves of both sides about a hundred are left.
"""

from typing import NamedTuple

import numpy as np

from gonn_core.features.chains import CELL_WORDS, neighbours
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.ladder_search import SearchWorkspace, make_workspace, mark, mark_chain, working_moves
from gonn_core.go.layout import FLAGS, KO, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, EMPTY, FROM_PADDED, PADDED, POINTS, SYMMETRY, WHITE, WORDS
from gonn_core.go.rules import (
    BOTTOM,
    HEAD,
    LIBERTIES,
    NOWHERE,
    PADDED_POINT,
    UNDO_PER_MOVE,
    chains_around,
    empties_around,
    is_legal,
    keep_living,
    only_liberty,
    play,
    set_up,
    take_back,
    two_liberties,
)

_ONE = np.uint64(1)

NODES = 2_000
"""Nodes of a search after which the chain counts as safe; a ladder across the whole board takes some 200."""

PLANES = 8
CAUGHT, TWO_LIBERTIES, ATARI, CAPTURE, ESCAPE, THREAT, OPPONENT_THREAT, OPPONENT_CAUGHT = range(PLANES)
"""Places in `marks.Tables.ladders`, those of `sets.LADDER_PLANES`."""


def make_workspaces() -> tuple[SearchWorkspace, SearchWorkspace]:
    """One thread's memory, for searches and for the moves tried: they share all but the stack of moves to take back."""
    search = make_workspace(NODES)
    return search, search._replace(undo=np.zeros(UNDO_PER_MOVE, np.uint16))


class ChainSets(NamedTuple):
    """The chains of a position as sets of cells of the padded board, numbered by their heads in raster order."""

    heads: np.ndarray  # (361,) uint64
    number: np.ndarray  # (441,) int64: of a chain, at its head
    stones: np.ndarray  # (361, 7) uint64
    liberties: np.ndarray  # (361, 7) uint64
    empty: np.ndarray  # (7,) uint64: the empty points
    captures: np.ndarray  # (361,) uint64: where a chain in atari is captured, NOWHERE for any other
    shaken: np.ndarray  # (361, 7) uint64: the stones of a chain in atari and those of the enemy's chains next to it


@kernel
def make_chain_sets():
    """Memory for one position."""
    return ChainSets(
        np.empty(POINTS, np.uint64),
        np.empty(PADDED, np.int64),
        np.empty((POINTS, CELL_WORDS), np.uint64),
        np.empty((POINTS, CELL_WORDS), np.uint64),
        np.empty(CELL_WORDS, np.uint64),
        np.empty(POINTS, np.uint64),
        np.empty((POINTS, CELL_WORDS), np.uint64),
    )


@kernel
def find_chain_sets(board, sets):
    """Fill `sets` from the board of `gonn_core.go.rules`; returns how many chains there are."""
    n = 0
    sets.empty[:] = 0
    for p in PADDED_POINT:
        if board[p] == EMPTY:
            mark(sets.empty, p)
        elif board[HEAD + p] == p:
            sets.heads[n], sets.number[p] = p, n
            sets.stones[n, :] = 0
            sets.liberties[n, :] = 0
            n += 1
    for p in PADDED_POINT:
        if board[p] != EMPTY:
            mark(sets.stones[sets.number[board[HEAD + p]]], p)
            continue
        for colour in (np.uint64(1), np.uint64(2)):
            for head in chains_around(board, p, colour):
                if head != NOWHERE:
                    mark(sets.liberties[sets.number[head]], p)
    _find_captures(board, sets, n)
    return n


@kernel
def _find_captures(board, sets, n):
    beside = np.empty(CELL_WORDS, np.uint64)
    for k in range(n):
        head = sets.heads[k]
        sets.captures[k] = NOWHERE
        if board[LIBERTIES + head] != 1:
            continue
        sets.captures[k] = only_liberty(board, head)
        neighbours(sets.stones[k], beside)
        sets.shaken[k] = sets.stones[k]
        for other in range(n):
            if board[sets.heads[other]] != board[head] and _meet(sets.stones[other], beside):
                for word in range(CELL_WORDS):
                    sets.shaken[k, word] |= sets.stones[other, word]


@kernel
def _meet(one, other):
    common = np.uint64(0)
    for word in range(CELL_WORDS):
        common |= one[word] & other[word]
    return common != 0


@kernel
def moves_that_matter(board, sets, n, footprint, mover, moves):
    """`moves` (7,): the empty points where a move by `mover` can change an answer with this footprint."""
    for word in range(CELL_WORDS):
        moves[word] = footprint[word] & sets.empty[word]
    for k in range(n):
        if _meet(sets.stones[k], footprint):
            for word in range(CELL_WORDS):
                moves[word] |= sets.liberties[k, word]
        if sets.captures[k] != NOWHERE and board[sets.heads[k]] != mover and _meet(sets.shaken[k], footprint):
            mark(moves, sets.captures[k])


@kernel
def moves_into_few_liberties(board, mover, moves):
    """`moves` (7,): the empty points where a move by `mover` may leave his chain with two liberties or fewer.

    Three empty neighbours are three liberties, and a chain of four keeps three.
    """
    moves[:] = 0
    for p in PADDED_POINT:
        if board[p] != EMPTY or empties_around(board, p) > 2:
            continue
        few = True
        for head in chains_around(board, p, mover):
            few &= head == NOWHERE or board[LIBERTIES + head] <= 3
        if few:
            mark(moves, p)


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
def _choose_moves(work, mover, is_own, weak, sets, n_sets, into, tried, all_tried):
    """The moves of one side to be tried: in `into` (7,) for what becomes of their own chain, in `tried` (n, 7) for what
    becomes of each weak chain; `all_tried` (7,) has both."""
    heads, falls, footprints, n = weak
    board = work.board
    moves_into_few_liberties(board, mover, into)
    all_tried[:] = into
    for k in range(n):
        head = np.uint64(heads[k])
        liberties, is_movers = board[LIBERTIES + head], board[head] == mover
        own_liberties = sets.liberties[sets.number[head]]
        tried[k, :] = 0
        if is_movers and is_own and falls[k]:  # escapes
            moves_that_matter(board, sets, n_sets, footprints[k], mover, tried[k])
        elif not is_movers and not falls[k] and liberties == 2:  # threats: it must keep its two liberties
            moves_that_matter(board, sets, n_sets, footprints[k], mover, tried[k])
            for word in range(CELL_WORDS):
                tried[k, word] &= ~own_liberties[word]
        elif not is_movers and liberties == 3:  # threats: it must lose one
            tried[k] = own_liberties
        for word in range(CELL_WORDS):
            all_tried[word] |= tried[k, word]


@kernel
def _after_move(work, ko, weak, tried, word, bit):
    """After a move that stands at this bit: (does a chain of the mover's escape, is one of the enemy's threatened)."""
    heads, falls, _, n = weak
    board = work.board
    escapes = threatens = False
    for k in range(n):
        if tried[k, word] & bit == 0:
            continue
        stone = np.uint64(heads[k])
        if falls[k]:
            escapes = escapes or not _falls(work, stone, ko)
        elif not threatens and board[LIBERTIES + board[HEAD + stone]] == 2:
            threatens = _falls(work, stone, NOWHERE)
    return escapes, threatens


@kernel
def _mark_moves(work, trying, mover, is_own, ko, weak, sets, n_sets, tried, first, image, marks, n):
    """Appends the marks of the moves of one side, each played and taken back."""
    board = work.board
    caught, threat = (first[CAUGHT], first[THREAT]) if is_own else (first[OPPONENT_CAUGHT], first[OPPONENT_THREAT])
    into, all_tried = np.empty(CELL_WORDS, np.uint64), np.empty(CELL_WORDS, np.uint64)
    _choose_moves(work, mover, is_own, weak, sets, n_sets, into, tried, all_tried)
    for word in range(CELL_WORDS):
        left = all_tried[word]
        while left != 0:
            p = np.uint64(word * 64 + lowest_bit(left))
            bit = left & (~left + _ONE)
            left ^= bit
            if not is_legal(board, p, mover, ko):
                continue
            target = image[FROM_PADDED[p]]
            top, ko_after, _ = play(board, trying.undo, BOTTOM, p, mover)
            if into[word] & bit != 0 and _falls(work, p, ko_after):
                marks[n] = caught + target
                n += 1
            escapes, threatens = _after_move(work, ko_after, weak, tried, word, bit)
            if escapes:
                marks[n] = first[ESCAPE] + target
                n += 1
            if threatens:
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
def mark_ladders(source, rows, symmetries, first, work, trying, marks, counts):
    """Appends to the marks (B, ROOM) of the positions at `rows` those of the eight ladder planes, whose first marks are
    `first`.

    A chain without a liberty, which no store has, is not there for this purpose. `work` and `trying` are from
    `make_workspaces`.
    """
    heads, falls, stones = np.empty(POINTS, np.int64), np.empty(POINTS, np.bool_), np.empty(2 * WORDS, np.uint64)
    footprints, tried = np.empty((POINTS, CELL_WORDS), np.uint64), np.empty((POINTS, CELL_WORDS), np.uint64)
    sets = make_chain_sets()
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
        weak, n_sets = (heads, falls, footprints, n_chains), find_chain_sets(board, sets)
        n = _mark_stones(board, source.ladders[row], first, image, marks[j], n)
        n = _mark_captures(work, own, ko, heads, falls, n_chains, first, image, marks[j], n)
        for side, banned_point in ((own, ko), (np.uint64(3) - own, NOWHERE)):
            n = _mark_moves(
                work, trying, side, side == own, banned_point, weak, sets, n_sets, tried, first, image, marks[j], n
            )
        counts[j] = n
