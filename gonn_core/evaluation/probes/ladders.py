"""Ladders cut from games: pairs of positions that differ in one far stone, which decides whether a ladder works
(spec: GoNN 1.2).

*capture*: a chain with two liberties, its enemy to move. The move is right where it starts a working ladder, wrong in
the counterpart. *run*: a chain in atari, its owner to move. Running out is right where it escapes, wrong in the
counterpart, where the ladder works.

One of the two positions is from a game; in the other a stone of the game is removed, or one is added on the ladder's
way. Distance: king's moves from that stone to the chain. No history is shown where the game had the other player to
move.
"""

import numpy as np

from gonn_core.evaluation.probes.suite import Case, Suite, drawn_suite
from gonn_core.features.source import Position, read_only
from gonn_core.go.board import Board
from gonn_core.go.jit import kernel
from gonn_core.go.ladder_search import CAPPED, NODES, is_captured, make_workspace, working_moves
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, FROM_PADDED, SIZE, WHITE, WORDS, point_name
from gonn_core.go.rules import (
    BOTTOM,
    HEAD,
    LIBERTIES,
    NEXT,
    NOWHERE,
    PADDED_POINT,
    neighbours,
    only_liberty,
    set_up,
    two_liberties,
)

CAPTURE, RUN = "ladder_capture", "ladder_run"
_LEAST_DISTANCE = 4
_MOST_LADDERS = 4000
"""Of more in a suite, so many are taken, evenly spaced."""
_HISTORY = 5
_ROOM = 1 << 16
_ROW, _CHAIN, _STONE, _MOVED, _DISTANCE, _TO_MOVE, _WORKS, _OWNER = range(8)
"""Columns of a ladder found: row of the store; least point of the chain; the deciding stone (where the row has none, it
is added); the move asked about; king's moves from the stone to the chain; who moves; whether the chain is captured in
the row's own position; whose it is."""
_COLUMNS = 8
_FAR = np.array([6, 10, SIZE + 1])
"""Upper ends of the classes of distance."""
_LEAST_NODES = 6  # a search so short sees no stone from afar
_ONE = np.uint64(1)


@kernel
def _answer(work, stone, ko):
    """The ladder question of the chain at `stone` with its one or two liberties: a point that captures, or NOWHERE.

    With one liberty, whose owner moves, it is that liberty if he is captured all the same.
    """
    board = work.board
    head = np.uint64(board[HEAD + stone])
    if board[LIBERTIES + head] == 1:
        return only_liberty(board, head) if is_captured(work, head, BOTTOM) else NOWHERE
    p, q = two_liberties(board, head)
    works_p, works_q = working_moves(work, head, p, q, ko)
    return works_p if works_p != NOWHERE else works_q


@kernel
def _reach(board, head, stone):
    """King's moves from padded point `stone` to the nearest stone of a chain; and the least point of the chain."""
    at_row, at_col = FROM_PADDED[stone] // SIZE, FROM_PADDED[stone] % SIZE
    nearest, least = SIZE, SIZE * SIZE
    at = head
    while True:
        point = FROM_PADDED[at]
        nearest = min(nearest, max(abs(point // SIZE - at_row), abs(point % SIZE - at_col)))
        least = min(least, point)
        at = np.uint64(board[NEXT + at])
        if at == head:
            return nearest, least


@kernel
def _is_near(touched, p):
    """Whether padded point p is next to a point that the search played."""
    for q in neighbours(p):
        if (touched[q >> np.uint64(6)] >> (q & np.uint64(63))) & _ONE != 0:
            return True
    return False


@kernel
def _was_played(moves, row, p, plies):
    """Whether point p was played in the `plies` moves before a row of the store (rows of an earlier game may count: no
    harm)."""
    for ago in range(1, plies + 1):
        if row - ago >= 0 and moves[row - ago, MOVE] == p:
            return True
    return False


@kernel
def _stands_alone(board, p):
    """Whether the empty padded point p has only empty points and the edge next to it: a stone there touches nothing."""
    if board[p] != 0:
        return False
    for q in neighbours(p):
        if board[q] == 1 or board[q] == 2:
            return False
    return True


@kernel
def _draw_lot(row, point):
    """A number that looks random, the same for the same row and point."""
    lot = np.uint64(row * 361 + point + 1) * np.uint64(0x9E3779B97F4A7C15)
    lot = (lot ^ (lot >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return lot ^ (lot >> np.uint64(32))


@kernel
def _turns(other, stones, p, ko, works):
    """Whether the chain at p has another answer than `works` when `stones` are on the board: (yes, the move that
    captures)."""
    set_up(other.board, other.undo, stones)
    capped = other.counters[CAPPED]
    answer = _answer(other, p, ko)
    if other.counters[CAPPED] > capped or (answer == NOWHERE) == (works == NOWHERE):
        return False, NOWHERE
    return True, (works if works != NOWHERE else answer)


@kernel
def _find_hanging_ladders(work, other, stones, moves, first, stop, least_distance, history, out):
    """Ladders in rows first..stop-1 that one far stone decides; returns how many are in `out` (K, 8) int64, at
    most K.

    Looked at: all chains with one liberty, whose owner moves, and with two, whose enemy moves. Stones of the game that
    the search came near to are taken off one at a time, unless played in the last `history` moves; and on empty points
    of the ladder's way that touch nothing a stone is put, the owner's where the ladder works, else the enemy's. The
    question is asked again each time. Of the stones that turn the answer, at least `least_distance` from the chain,
    kept are the farthest of the game's and, of the added, one by lot in each class of distance (_FAR). stones (N, 12),
    moves (N, 4): the store's. work, other: two workspaces.
    """
    count = 0
    changed = np.empty(2 * WORDS, np.uint64)
    # (stone, move, distance) of the game's stone, then of the added stone in each class of distance
    chosen = np.empty((1 + len(_FAR), 3), np.int64)
    lots = np.empty(1 + len(_FAR), np.uint64)
    for row in range(first, stop):
        if moves[row, MOVE] < 0:
            continue
        mover = 2 if moves[row, FLAGS] & WHITE_TO_MOVE else 1
        set_up(work.board, work.undo, stones[row])
        board = work.board
        for p in PADDED_POINT:
            if board[p] == 0 or board[HEAD + p] != p or board[LIBERTIES + p] > 2:
                continue
            to_move = np.int64(board[p]) if board[LIBERTIES + p] == 1 else 3 - np.int64(board[p])
            ko = PADDED_POINT[moves[row, KO]] if moves[row, KO] >= 0 and to_move == mover else NOWHERE
            work.touched[:] = 0
            nodes, capped = work.counters[NODES], work.counters[CAPPED]
            works = _answer(work, p, ko)
            if work.counters[NODES] - nodes < _LEAST_NODES or work.counters[CAPPED] > capped:
                continue
            breaker = np.int64(board[p]) if works != NOWHERE else 3 - np.int64(board[p])
            _, least = _reach(board, p, p)
            chosen[:], lots[:] = -1, 0
            for point in range(SIZE * SIZE):
                stone = PADDED_POINT[point]
                if not _is_near(work.touched, stone):
                    continue
                distance = _reach(board, p, stone)[0]
                if distance < least_distance:
                    continue
                changed[:] = stones[row]
                word, bit = point >> 6, _ONE << np.uint64(point & 63)
                if board[stone] != 0:
                    kind, lot = 0, np.uint64(distance)
                    changed[word + (np.int64(board[stone]) - 1) * WORDS] &= ~bit
                    usable = not _was_played(moves, row, point, history)
                else:
                    kind, lot = 1, _draw_lot(row, point)
                    while distance >= _FAR[kind - 1]:
                        kind += 1
                    changed[word + (breaker - 1) * WORDS] |= bit
                    usable = _stands_alone(board, stone)
                if usable and lot > lots[kind]:
                    turned, move = _turns(other, changed, p, ko, works)
                    if turned:
                        lots[kind] = lot
                        chosen[kind, 0], chosen[kind, 1], chosen[kind, 2] = point, FROM_PADDED[move], distance
            for stone, move, distance in chosen:
                if stone >= 0 and count < len(out):
                    out[count, _ROW], out[count, _CHAIN], out[count, _STONE] = row, least, stone
                    out[count, _MOVED], out[count, _DISTANCE], out[count, _TO_MOVE] = move, distance, to_move
                    out[count, _WORKS], out[count, _OWNER] = works != NOWHERE, np.int64(board[p])
                    count += 1
    return count


def cut_ladders(store, games: np.ndarray, most: int | None = None) -> tuple[Case, ...]:
    """Cases from these games (numbers, ascending) of a position store, in order; the same for the same store and games.

    most: an evenly spaced choice of so many. store: anything with `stones`, `moves`, `game`, `games` as in
    gonn_core.go.layout.
    """
    work, other = make_workspace(), make_workspace()
    stones, moves = (read_only(array) for array in (store.stones, store.moves))
    ladders = np.empty((_ROOM, _COLUMNS), np.int64)
    cases: list[Case] = []
    for game in games:
        first, rows = store.games[game][["first_row", "rows"]]
        count = _find_hanging_ladders(
            work, other, stones, moves, int(first), int(first + rows), _LEAST_DISTANCE, _HISTORY, ladders
        )
        cases += filter(None, (_case(stones, moves, int(game), int(first), ladder) for ladder in ladders[:count]))
    if most is not None and most < len(cases):
        cases = [cases[index] for index in np.linspace(0, len(cases) - 1, most).round().astype(int)]
    return tuple(cases)


def suite_with_ladders(store, games: np.ndarray) -> Suite:
    """The drawn suite and the ladders of these games (numbers, ascending) of a store."""
    return Suite((*drawn_suite().cases, *cut_ladders(store, games, _MOST_LADDERS)))


def _case(stones, moves, game: int, first: int, ladder: np.ndarray) -> Case | None:
    """The case of one found ladder; None where its move is no answer: illegal, or running out is not what saves the
    chain."""
    row, stone, move, to_move = (int(ladder[column]) for column in (_ROW, _STONE, _MOVED, _TO_MOVE))
    own = to_move == (WHITE if moves[row, FLAGS] & WHITE_TO_MOVE else BLACK)
    ko = int(moves[row, KO]) if own else -1
    history = _history(moves, row) if own else ()
    natural = Position(stones[row].copy(), to_move, ko, history)
    changed = Position(_changed(stones[row], stone, ladder), to_move, ko, history)
    works, fails = (natural, changed) if ladder[_WORKS] else (changed, natural)
    if not all(Board(position.stones, position.ko).legal(move, to_move) for position in (works, fails)):
        return None
    runs = to_move == ladder[_OWNER]
    if runs and not escapes_by_running(fails, move, int(ladder[_CHAIN])):
        return None
    right, counterpart = (fails, works) if runs else (works, fails)
    name = f"game{game}-{row - first}-{point_name(int(ladder[_CHAIN]))}-{point_name(stone)}"
    group, distance = RUN if runs else CAPTURE, int(ladder[_DISTANCE])
    return Case(name, group, right, (move,), counterpart=counterpart, distance=distance, cluster=f"game{game}")


def _changed(stones: np.ndarray, stone: int, ladder: np.ndarray) -> np.ndarray:
    """The stones of a row without the deciding stone, or with it where there is none: the owner's if the ladder works,
    else the enemy's."""
    changed = stones.copy()
    word, bit = stone >> 6, _ONE << np.uint64(stone & 63)
    if (changed[word] | changed[WORDS + word]) & bit:
        changed[[word, WORDS + word]] &= ~bit
    else:
        colour = ladder[_OWNER] if ladder[_WORKS] else BLACK + WHITE - ladder[_OWNER]
        changed[(int(colour) - 1) * WORDS + word] |= bit
    return changed


def _history(moves: np.ndarray, row: int) -> tuple[int, ...]:
    """The moves before a row of the store, the last first, as far as the game goes and the players alternate."""
    history: list[int] = []
    white = moves[row, FLAGS] & WHITE_TO_MOVE
    while len(history) < _HISTORY and not moves[row, FLAGS] & FIRST:
        row, white = row - 1, white ^ WHITE_TO_MOVE
        if moves[row, FLAGS] & WHITE_TO_MOVE != white:
            break
        history.append(int(moves[row, MOVE]))
    return tuple(history)


def escapes_by_running(position: Position, move: int, chain: int) -> bool:
    """Whether the mover's chain at a point is safe from ladders after he played `move`: three liberties, or two and no
    working attack."""
    board = Board(position.stones, position.ko)
    board.play(move, position.mover)
    liberties = board.liberties(chain)
    laddered = board.ladders()[chain >> 6] >> np.uint64(chain & 63) & _ONE
    return liberties >= 3 or (liberties == 2 and not laddered)
