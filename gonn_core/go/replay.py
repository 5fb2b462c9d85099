"""Replays games into rows of the position store (go/layout.py), ladder bits included.

How a game is taken (spec: GoNN 4.6): two or more Black moves at its start are handicap: rows flagged HANDICAP_MOVE; an
illegal one among them is skipped without a row. From then on a second move in a row by one player ends the game before
it, and so does an illegal move (occupied, suicide, simple ko). A pass clears the ko. Setup stones are put down in file
order, later ones over earlier ones; chains left without a liberty are then taken off, all at once, and there is no ko.
"""

import numpy as np

from gonn_core.go.jit import kernel
from gonn_core.go.ladder_cache import find_ladders_cached, note_move, start_game
from gonn_core.go.ladder_search import set_bit
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
from gonn_core.go.points import BLACK, FROM_PADDED, PASS, POINTS, WHITE, WORDS
from gonn_core.go.rules import BOTTOM, NEXT, NOWHERE, PADDED_POINT, captured_head, is_legal, play
from gonn_core.go.setup import place_setup, set_up
from gonn_core.go.workspace import CAPPED, make_workspace

__all__ = ["make_workspace", "replay_game", "replay_games"]

_ONE = np.uint64(1)


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
