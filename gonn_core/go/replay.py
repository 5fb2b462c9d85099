"""Replays games into rows of the position store (go/layout.py), ladder bits included.

How a game is taken (spec: GoNN 4.6): two or more Black moves at its start are handicap: rows flagged HANDICAP_MOVE; an
illegal one among them is skipped without a row. From then on a second move in a row by one player ends the game before
it, and so does an illegal move (occupied, suicide, simple ko). A pass clears the ko. Setup stones are put down in file
order, later ones over earlier ones; chains left without a liberty are then taken off, all at once, and there is no ko.

Ladder answers kept from move to move of a game: only the chains whose ladder a move can have changed are searched
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
from gonn_core.go.ladder_search import (
    CAPPED,
    PADDED_WORDS,
    REUSED,
    add_answer,
    make_workspace,
    mark,
    mark_chain,
    set_bit,
)
from gonn_core.go.layout import (
    COMPLETE,
    FIRST,
    FLAGS,
    HANDICAP_MOVE,
    ILLEGAL_MOVE,
    KO,
    LAST,
    MOVE,
    NONE,
    PLY,
    SAME_PLAYER,
    WHITE_TO_MOVE,
)
from gonn_core.go.points import BLACK, FROM_PADDED, PADDED, PASS, POINTS, STRIDE, WHITE, WORDS
from gonn_core.go.rules import (
    BOTTOM,
    HEAD,
    LIBERTIES,
    NEXT,
    NOWHERE,
    PADDED_POINT,
    captured_head,
    chains_around,
    is_legal,
    place_setup,
    play,
    set_up,
    two_liberties,
)

__all__ = ["make_workspace", "replay_game", "replay_games"]

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
    """The same bits as `ladder_search.find_ladders` for the position on the board, the next one of a game, sooner.

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


@kernel
def handicap_moves(colours):
    """Number of Black moves at the start that are handicap: all of them when there are two or more, else 0."""
    count = 0
    while count < len(colours) and colours[count] == BLACK:
        count += 1
    return count if count >= 2 else 0


@kernel
def _play_on(work, stones, p, colour, want_ladders):
    """Plays a legal move on the board and on its bitboards, notes it for the ladder cache; returns the ko point."""
    _, ko, captured_chains = play(work.board, work.undo, BOTTOM, p, colour)
    if want_ladders:
        note_move(work, p, colour, captured_chains)
    set_bit(stones[WORDS:] if colour == WHITE else stones[:WORDS], p)
    for i in range(captured_chains):
        head = captured_head(work.undo, BOTTOM, i)
        stone = head
        while True:
            at = FROM_PADDED[stone] + (0 if colour == WHITE else WORDS * 64)
            stones[at >> 6] &= ~(_ONE << np.uint64(at & 63))
            stone = np.uint64(work.board[NEXT + stone])
            if stone == head:
                break
    return ko


@kernel
def replay_game(setup, moves, colours, stones_out, ladders_out, moves_out, want_ladders, work):
    """Replays one game into the first rows of the out arrays: (rows written, end of the game as in layout.py).

    setup (S,) int16 codes as for `place_setup`; moves (M,) int16 points or PASS; colours (M,) uint8 BLACK or WHITE. The
    out arrays, laid out as the store's, have room for M + 1 rows. ladders_out is not touched unless want_ladders.
    """
    stones = np.empty(2 * WORDS, np.uint64)
    place_setup(setup, stones)
    set_up(work.board, work.undo, stones)
    if want_ladders:
        start_game(work)
    handicap = handicap_moves(colours)
    ko = NOWHERE
    mover = WHITE if len(colours) > 0 and colours[0] == WHITE else BLACK
    rows, end, ply = 0, COMPLETE, 0
    while True:
        move, flags = NONE, LAST
        while ply < len(moves):
            move, colour = np.int64(moves[ply]), np.int64(colours[ply])
            inside = 0 <= move < POINTS and (colour == BLACK or colour == WHITE)
            if ply >= handicap and ply > 0 and colour == colours[ply - 1]:
                end, move = SAME_PLAYER, NONE
            elif move == PASS or (inside and is_legal(work.board, PADDED_POINT[move], np.uint64(colour), ko)):
                mover = colour
                flags = HANDICAP_MOVE if ply < handicap else 0
            elif ply < handicap:
                ply += 1
                move = NONE
                continue
            else:
                end, move = ILLEGAL_MOVE, NONE
            break

        stones_out[rows] = stones
        if want_ladders:
            find_ladders_cached(work, ko, ladders_out[rows])
        moves_out[rows, MOVE] = move
        moves_out[rows, KO] = FROM_PADDED[ko]  # -1 for NOWHERE, a point of the rim
        moves_out[rows, PLY] = ply
        moves_out[rows, FLAGS] = flags | (FIRST if rows == 0 else 0) | (WHITE_TO_MOVE if mover == WHITE else 0)
        rows += 1
        if move == NONE:
            return rows, end
        ko = NOWHERE if move == PASS else _play_on(work, stones, PADDED_POINT[move], np.uint64(mover), want_ladders)
        mover = BLACK + WHITE - mover
        ply += 1


@kernel
def replay_games(
    setup,
    setup_offsets,
    moves,
    colours,
    move_offsets,
    stones_out,
    ladders_out,
    moves_out,
    row_offsets,
    ends_out,
    rows_out,
    ladder_flags_out,
    want_ladders,
    workspace,
):
    """Replays G games, without the GIL, each as `replay_game`.

    Game g has setup[setup_offsets[g]:setup_offsets[g+1]] and moves[move_offsets[g]:move_offsets[g+1]] (int64 offsets,
    G+1 of each) with as many `colours`; its rows go to row_offsets[g] and on, where the caller leaves room for its
    moves + 1. ends_out (G,) int8 is its end, rows_out (G,) the number of rows written, ladder_flags_out (G,) uint8 is 1
    if a ladder search of it was capped. `workspace` is from `make_workspace`, one per thread.
    """
    for game in range(len(move_offsets) - 1):
        first, last = move_offsets[game], move_offsets[game + 1]
        row = row_offsets[game]
        capped = workspace.counters[CAPPED]
        rows, end = replay_game(
            setup[setup_offsets[game] : setup_offsets[game + 1]],
            moves[first:last],
            colours[first:last],
            stones_out[row : row + last - first + 1],
            ladders_out[row : row + last - first + 1] if want_ladders else ladders_out,
            moves_out[row : row + last - first + 1],
            want_ladders,
            workspace,
        )
        rows_out[game] = rows
        ends_out[game] = end
        ladder_flags_out[game] = workspace.counters[CAPPED] > capped
