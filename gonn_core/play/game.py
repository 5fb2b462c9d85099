"""`Game`: one game with its rules, moves and positions. Any colour may move at any time; every move can be taken
back."""

from collections.abc import Mapping

import numpy as np

from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, EMPTY, PASS, POINTS, WHITE, WORDS, point_name
from gonn_core.go.rules import PADDED_POINT
from gonn_core.play.kernels import find_moves, play_on, repeats, set_mover, take_back
from gonn_core.play.rows import GameTable, begin, copy_game, game_moves, ko_point, make_table, mover
from gonn_core.play.rules import KOMI

_FIRST_ROOM = 127  # moves


class IllegalMove(ValueError):
    """A move that the rules forbid; `reason` is occupied, suicide, ko or superko."""

    def __init__(self, point: int, reason: str):
        self.reason = reason
        super().__init__(f"illegal move {point_name(point)}: {reason}")


class Game:
    """A game from setup stones on. Points 0..360 or PASS, colours BLACK and WHITE.

    Suicide and the simple ko are forbidden and, with `superko`, whatever brings back a position that stood before,
    whoever is to move (positional superko). Setup chains without a liberty are taken off.
    """

    def __init__(
        self, komi: float = KOMI, setup: Mapping[int, int] | None = None, to_move: int = BLACK, superko: bool = True
    ):
        """Raises ValueError for a setup point or colour that is none."""
        self.komi, self.superko = komi, superko
        self.setup = dict(setup or {})
        for point, colour in self.setup.items():
            _check(point, colour)
        _check(0, to_move)
        self._table = make_table(1, _FIRST_ROOM)
        begin(self._table, 0, self.setup, to_move)

    @property
    def table(self) -> GameTable:
        """The game as game 0 of a table of one; it is another one after moves. For whoever makes planes."""
        return self._table

    @property
    def moves(self) -> list[tuple[int, int]]:
        """The moves so far, (colour, point or PASS)."""
        return game_moves(self._table, 0)

    def __len__(self) -> int:
        """Number of moves so far, passes among them."""
        return int(self._table.played[0])

    @property
    def to_move(self) -> int:
        """The side to move: after a move the other one, unless it is set."""
        return mover(self._table, 0)

    @to_move.setter
    def to_move(self, colour: int) -> None:
        _check(0, colour)
        set_mover(self._table, 0, colour)

    @property
    def board(self) -> Board:
        """A board of its own with the present position."""
        return Board(self.stones(), ko_point(self._table, 0))

    def stones(self) -> np.ndarray:
        """(12,) uint64: black bitboard, then white."""
        return self._table.stones[0, self._table.played[0]].copy()

    @property
    def captured(self) -> dict[int, int]:
        """Colour -> stones of that colour that moves have taken off the board. Nobody takes stones of their own, for
        suicide is forbidden."""
        placed = [colour for colour, point in self.moves if point != PASS]
        first, last = self._table.stones[0, 0], self.stones()
        return {
            colour: placed.count(colour) + _count(first, colour) - _count(last, colour) for colour in (BLACK, WHITE)
        }

    @property
    def passes(self) -> int:
        """Consecutive passes at the end."""
        count = 0
        for _, point in reversed(self.moves):
            if point != PASS:
                break
            count += 1
        return count

    @property
    def over(self) -> bool:
        """Whether the last two moves were passes."""
        return self.passes >= 2

    def why_illegal(self, point: int, colour: int) -> str | None:
        """`occupied`, `suicide`, `ko`, `superko`; None for a legal move. Raises ValueError off the board."""
        _check(max(point, 0) if point == PASS else point, colour)
        if point == PASS:
            return None
        board = self.board
        if board.colour(point) != EMPTY:
            return "occupied"
        if point == board.ko:
            return "ko"
        if not board.legal(point, colour):
            return "suicide"
        if self.superko and repeats(self._table, 0, PADDED_POINT[point], colour):
            return "superko"
        return None

    def legal(self, point: int, colour: int | None = None) -> bool:
        """Whether `colour`, by default the side to move, may play a point or PASS."""
        return self.why_illegal(point, self.to_move if colour is None else colour) is None

    def play(self, point: int, colour: int | None = None) -> None:
        """Plays a point or PASS. Raises IllegalMove; the game is then as before."""
        colour = self.to_move if colour is None else colour
        if reason := self.why_illegal(point, colour):
            raise IllegalMove(point, reason)
        if len(self) + 1 == self._table.moves.shape[1]:
            self._table = self._moved_to(2 * len(self) + 1)
        play_on(self._table, 0, point, colour)

    def undo(self) -> None:
        """Takes back the last move; who made it is to move again. Raises ValueError when there is none."""
        if len(self) == 0:
            raise ValueError("no move to take back")
        take_back(self._table, 0)

    def copy(self) -> "Game":
        """A game of its own with the same past."""
        other = object.__new__(Game)
        other.komi, other.superko, other.setup = self.komi, self.superko, dict(self.setup)
        other._table = self._moved_to(self._table.moves.shape[1] - 1)
        return other

    def legal_points(self, colour: int | None = None) -> np.ndarray:
        """(361,) bool: the points that `colour`, by default the side to move, may play."""
        return self._points(colour)[0]

    def candidates(self, colour: int | None = None) -> np.ndarray:
        """(361,) bool: legal points that are not simple eyes of the mover (spec: GoNN 5.2)."""
        return self._points(colour)[1]

    def _points(self, colour: int | None) -> tuple[np.ndarray, np.ndarray]:
        legal, candidates = np.empty(POINTS, np.bool_), np.empty(POINTS, np.bool_)
        find_moves(self._table, 0, self.to_move if colour is None else colour, self.superko, legal, candidates)
        return legal, candidates

    def _moved_to(self, room: int) -> GameTable:
        table = make_table(1, room)
        copy_game(self._table, 0, table, 0)
        return table


def _count(stones: np.ndarray, colour: int) -> int:
    """Stones of a colour in a row (12,) uint64."""
    words = stones[(colour - 1) * WORDS : colour * WORDS]
    return sum(int(word).bit_count() for word in words)


def _check(point: int, colour: int) -> None:
    if not 0 <= point < POINTS:
        raise ValueError(f"point {point}: valid are 0..{POINTS - 1}, {PASS} for a pass")
    if colour not in (BLACK, WHITE):
        raise ValueError(f"colour {colour}: valid are {BLACK} (black) and {WHITE} (white)")
