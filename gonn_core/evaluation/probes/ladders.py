"""Ladders cut from games: pairs of positions that differ in one far stone, on which it hangs whether a ladder works.

*capture*: a chain with two liberties, its enemy to move. The move is right where it starts a working ladder, wrong in
the twin. *run*: a chain in atari, its owner to move. Running out is right where it escapes, wrong in the twin, where
the ladder works.

One of the two positions is from a game; in the other a stone of the game is taken off, or one is put on the ladder's
way (see ladder_cutting.py). Distance: king's moves from that stone to the chain. Where the game had the other player to
move, no history is shown.
"""

import numpy as np

from gonn_core.evaluation.probes import ladder_cutting as cut
from gonn_core.evaluation.probes.cases import Case
from gonn_core.features.positions import Position
from gonn_core.go.board import Board
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, WHITE, WORDS, point_name
from gonn_core.go.workspace import make_workspace

CAPTURE, RUN = "ladder_capture", "ladder_run"
LEAST_DISTANCE = 4
_HISTORY = 5
_ROOM = 1 << 16


def cut_ladders(store, games: np.ndarray, most: int | None = None) -> tuple[Case, ...]:
    """Cases from these games (numbers, ascending) of a position store, in order; the same for the same store and games.

    most: an evenly spaced choice of so many. store: anything with `stones`, `moves`, `game`, `games` as in
    gonn_core.go.layout.
    """
    work, other = make_workspace(), make_workspace()
    stones, moves = (_readable(array) for array in (store.stones, store.moves))
    ladders = np.empty((_ROOM, cut.COLUMNS), np.int64)
    cases: list[Case] = []
    for game in games:
        first, rows = store.games[game][["first_row", "rows"]]
        count = cut.find_hanging_ladders(
            work, other, stones, moves, int(first), int(first + rows), LEAST_DISTANCE, _HISTORY, ladders
        )
        cases += filter(None, (_case(stones, moves, int(game), int(first), ladder) for ladder in ladders[:count]))
    if most is not None and most < len(cases):
        cases = [cases[index] for index in np.linspace(0, len(cases) - 1, most).round().astype(int)]
    return tuple(cases)


def _readable(array: np.ndarray) -> np.ndarray:
    view = array.view(np.ndarray)  # no memmap, and read-only: one compiled version serves every kind of array
    view.flags.writeable = False
    return view


def _case(stones, moves, game: int, first: int, ladder: np.ndarray) -> Case | None:
    """The case of one found ladder; None where its move is no answer: illegal, or running out is not what saves the
    chain."""
    row, stone, move, to_move = (int(ladder[column]) for column in (cut.ROW, cut.STONE, cut.MOVED, cut.TO_MOVE))
    own = to_move == (WHITE if moves[row, FLAGS] & WHITE_TO_MOVE else BLACK)
    ko = int(moves[row, KO]) if own else -1
    history = _history(moves, row) if own else ()
    natural = Position(stones[row].copy(), to_move, ko, history)
    changed = Position(_changed(stones[row], stone, ladder), to_move, ko, history)
    works, fails = (natural, changed) if ladder[cut.WORKS] else (changed, natural)
    if not all(Board(position.stones, position.ko).legal(move, to_move) for position in (works, fails)):
        return None
    runs = to_move == ladder[cut.OWNER]
    if runs and not escapes_by_running(fails, move, int(ladder[cut.CHAIN])):
        return None
    right, twin = (fails, works) if runs else (works, fails)
    name = f"game{game}-{row - first}-{point_name(int(ladder[cut.CHAIN]))}-{point_name(stone)}"
    return Case(
        name,
        RUN if runs else CAPTURE,
        right,
        (move,),
        twin=twin,
        distance=int(ladder[cut.DISTANCE]),
        cluster=f"game{game}",
    )


def _changed(stones: np.ndarray, stone: int, ladder: np.ndarray) -> np.ndarray:
    """The stones of a row without the deciding stone, or with it where there is none: the owner's if the ladder works,
    else the enemy's."""
    changed = stones.copy()
    word, bit = stone >> 6, np.uint64(1) << np.uint64(stone & 63)
    if (changed[word] | changed[WORDS + word]) & bit:
        changed[[word, WORDS + word]] &= ~bit
    else:
        colour = ladder[cut.OWNER] if ladder[cut.WORKS] else BLACK + WHITE - ladder[cut.OWNER]
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
    if liberties == 2:
        return not _has(board.ladders(), chain)
    return liberties >= 3


def _has(words: np.ndarray, point: int) -> bool:
    return bool(words[point >> 6] >> np.uint64(point & 63) & np.uint64(1))
