"""A GTP engine as a player of one of our games."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from gonn_core.errors import printable
from gonn_core.go.points import BLACK, WHITE
from gonn_core.play.engines.board import EngineBoard, NoPoint
from gonn_core.play.engines.client import EngineCrashed, EngineTimeout
from gonn_core.play.engines.pool import EnginePool
from gonn_core.play.game import Game

T = TypeVar("T")

MOST_RESTARTS = 1
"""Fresh starts of an engine within one game."""


class EnginePlayer:
    """An engine for one game. When it crashes or runs out of time it is started anew and shown the game, once; after
    that, and when it refuses a command, EngineError is raised.

    Used as a context manager, so that its process goes back to the pool.
    """

    def __init__(self, pool: EnginePool, seed: int):
        """Started when it is first asked. `seed`: of the game, for engines that take one."""
        self._pool, self._seed = pool, seed
        self._lent = ExitStack()
        self._board: EngineBoard | None = None
        self._restarts = 0

    def __enter__(self) -> "EnginePlayer":
        return self

    def __exit__(self, *error) -> None:
        self._lent.close()

    def move(self, game: Game, colour: int) -> int:
        """What it plays for a colour: a point, PASS or RESIGN; it need not be legal. Raises EngineError."""
        return self._asking(lambda board: board.genmove(game, colour))

    def dead(self, game: Game) -> frozenset[int]:
        """The points of stones that it calls dead at the end of a game. Raises EngineError."""
        return self._asking(lambda board: board.status(game, "dead"))

    def territory(self, game: Game) -> dict[int, frozenset[int]]:
        """Colour -> the empty points that it calls that side's at the end of a game. Raises EngineError."""
        return {
            BLACK: self._asking(lambda board: board.status(game, "black_territory")),
            WHITE: self._asking(lambda board: board.status(game, "white_territory")),
        }

    def _asking(self, ask: Callable[[EngineBoard], T]) -> T:
        while True:
            try:
                if self._board is None:
                    self._board = EngineBoard(self._lent.enter_context(self._pool.lend(self._seed)))
                return _answer(self._board, ask)
            except (EngineCrashed, EngineTimeout):
                self._lent.close()
                self._board = None
                if self._restarts == MOST_RESTARTS:
                    raise
                self._restarts += 1


def _answer(board: EngineBoard, ask: Callable[[EngineBoard], T]) -> T:
    try:
        return ask(board)
    except NoPoint as error:
        board.client.kill()  # who knows what it has played
        raise EngineCrashed(f"no move: {printable(str(error), 40)}") from None
