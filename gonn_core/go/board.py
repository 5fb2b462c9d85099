"""`Board`: one position to play on from plain Python, over the kernels of `rules.py`."""

import numpy as np

from gonn_core.go.points import BLACK, EMPTY, FROM_PADDED, PASS, POINTS, WHITE, WORDS
from gonn_core.go.rules import (
    BOARD_LENGTH,
    BOTTOM,
    HEAD,
    LIBERTIES,
    NEXT,
    NOWHERE,
    PADDED_POINT,
    UNDO_PER_MOVE,
    clear_board,
    is_suicide,
    keep_living,
    play,
    set_up,
)


class Board:
    """A 19x19 board: stones, chains, liberties and the simple-ko point. Points are 0..360, colours BLACK or WHITE.

    Whose turn it is, history and results are the caller's: any colour may play at any time.
    """

    def __init__(self, stones: np.ndarray | None = None, ko: int = -1):
        """An empty board, or one with the bitboards `stones` (12,) uint64, less the chains without a liberty, and a ko
        ban."""
        self._board = np.zeros(BOARD_LENGTH, np.uint16)
        self._undo = np.zeros(UNDO_PER_MOVE, np.uint16)  # never read: no move is taken back here
        self.ko = -1
        """The point that may not be played now because of the simple ko, or -1."""
        if stones is None:
            clear_board(self._board)
        else:
            living = np.array(stones, np.uint64)
            keep_living(living)
            set_up(self._board, self._undo, living)
        if ko >= 0:
            if self.colour(ko) != EMPTY:
                raise ValueError(f"ko point {ko} is not empty")
            self.ko = ko

    def copy(self) -> "Board":
        """A board of its own with the same position."""
        other = object.__new__(Board)
        other._board, other._undo, other.ko = self._board.copy(), self._undo.copy(), self.ko
        return other

    def colour(self, point: int) -> int:
        """EMPTY, BLACK or WHITE. Raises ValueError off the board, as everything here that takes a point."""
        return int(self._board[_padded(point)])

    def legal(self, point: int, colour: int) -> bool:
        """True for a pass, and for an empty point that is neither suicide nor the ko point."""
        if colour not in (BLACK, WHITE):
            raise ValueError(f"colour {colour}: valid are {BLACK} (black) and {WHITE} (white)")
        if point == PASS:
            return True
        p = _padded(point)
        return self._board[p] == EMPTY and point != self.ko and not is_suicide(self._board, p, np.uint64(colour))

    def play(self, point: int, colour: int) -> None:
        """Plays a point or PASS, which clears the ko. Raises ValueError for an illegal move; the board is then as
        before."""
        if not self.legal(point, colour):
            raise ValueError(f"illegal move {point} by colour {colour}")
        if point == PASS:
            self.ko = -1
            return
        _, ko, _ = play(self._board, self._undo, BOTTOM, _padded(point), np.uint64(colour))
        self.ko = int(FROM_PADDED[int(ko)])

    def liberties(self, point: int) -> int:
        """Number of liberties of the chain at a point, 0 on an empty one."""
        p = _padded(point)
        return int(self._board[int(LIBERTIES) + int(self._board[HEAD + p])]) if self._board[p] != EMPTY else 0

    def chain(self, point: int) -> list[int]:
        """Points of the chain at a point, ascending, none on an empty one."""
        start = int(_padded(point))
        if self._board[start] == EMPTY:
            return []
        stones, at = [start], int(self._board[int(NEXT) + start])
        while at != start:
            stones.append(at)
            at = int(self._board[int(NEXT) + at])
        return sorted(int(p) for p in FROM_PADDED[stones])

    def colours(self) -> np.ndarray:
        """(361,) uint8: EMPTY, BLACK or WHITE of each point."""
        return self._board[PADDED_POINT].astype(np.uint8)

    def stones(self) -> np.ndarray:
        """(12,) uint64: black bitboard, then white, as a row of the store's `stones`."""
        colours = self.colours()
        bits = np.zeros((2, WORDS * 64), np.uint8)
        bits[0, :POINTS], bits[1, :POINTS] = colours == BLACK, colours == WHITE
        return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64).reshape(2 * WORDS)


def _padded(point: int) -> np.uint64:
    if not 0 <= point < POINTS:
        raise ValueError(f"point {point}: valid are 0..{POINTS - 1}")
    return PADDED_POINT[point]


assert FROM_PADDED[int(NOWHERE)] == -1  # the rim is no point: `play` relies on it for "no ko"
