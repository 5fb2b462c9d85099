"""GoNN's planes written down once more, straight from the text of the specification (GoNN 1.1, 1.3), slow and
obvious."""

import numpy as np

from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import POINTS
from tests.boards import points_of
from tests.go.slow_board import chain_and_liberties, neighbours

EMPTY, OWN, OPPONENT = 0, 1, 2


def liberties_after(board, p: int, colour: int) -> int:
    """Liberties of the new chain when `colour` plays the empty point p; legality is not tested."""
    captured, liberties = set(), set()
    for q in neighbours(p):
        if board[q] == 3 - colour:
            stones, last_liberties = chain_and_liberties(board, q)
            if len(last_liberties) == 1:
                captured |= stones
    for q in neighbours(p):
        if board[q] == EMPTY or q in captured:
            liberties.add(q)
        elif board[q] == colour:
            stones, _ = chain_and_liberties(board, q)
            beside = {x for s in stones for x in neighbours(s)}
            liberties |= {x for x in beside if x != p and (board[x] == EMPTY or x in captured)}
    return len(liberties)


def slow_planes(board, ko: int, history: list[int], ladders: set[int]) -> np.ndarray:
    """(26, 361) uint8 of a board of EMPTY, OWN and OPPONENT.

    `ko` is -1 for none; `history` has five points, the last move first, negative for none; `ladders` is as in the
    store.
    """
    planes = np.zeros((26, POINTS), np.uint8)
    planes[0] = 1
    for p in range(POINTS):
        if board[p] == EMPTY:
            for colour, first_plane in ((OWN, 11), (OPPONENT, 14)):
                count = liberties_after(board, p, colour)
                if 1 <= count <= 3:
                    planes[first_plane + count - 1, p] = 1
            if p in ladders:
                planes[25, p] = 1
        else:
            planes[board[p], p] = 1
            count = len(chain_and_liberties(board, p)[1])
            if 1 <= count <= 4:
                planes[(3 if board[p] == OWN else 7) + count - 1, p] = 1
            if p in ladders and count in (1, 2):
                planes[22 + count, p] = 1
    if ko >= 0:
        planes[17, ko] = 1
    for k, p in enumerate(history):
        if p >= 0:
            planes[18 + k, p] = 1
    return planes


def slow_history(moves: np.ndarray, row: int, keep: int) -> list[int]:
    """The moves 1..5 before a row, as far as they are kept, of its game, and by alternating players; negative for
    none."""
    history = [-1] * 5
    for ago in range(1, keep + 1):
        if any(moves[row - back, FLAGS] & FIRST for back in range(ago)):
            break
        same_player = (moves[row - ago, FLAGS] & WHITE_TO_MOVE) == (moves[row, FLAGS] & WHITE_TO_MOVE)
        if same_player != (ago % 2 == 0):
            break
        history[ago - 1] = int(moves[row - ago, MOVE])
    return history


def slow_planes_of_row(stones, ladders, moves, row: int, keep: int) -> np.ndarray:
    """(26, 361) uint8 of a store row, unturned."""
    black, white = points_of(stones[row, :6]), points_of(stones[row, 6:])
    own, opponent = (white, black) if moves[row, FLAGS] & WHITE_TO_MOVE else (black, white)
    board = [OWN if p in own else OPPONENT if p in opponent else EMPTY for p in range(POINTS)]
    return slow_planes(board, int(moves[row, KO]), slow_history(moves, row, keep), points_of(ladders[row]))
