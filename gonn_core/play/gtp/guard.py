"""Another engine beside the net: asked before every move whether it would pass, and afterwards what is dead.

As go-NN did with GNU Go (spec: other_systems 1.7): asked first; when it passes or resigns, so does the net's player;
otherwise its move is taken back and the net moves. Clean-up moves and scores are its own. Published: level 5 before
moves, level 10 for clean-up; here one engine does both at the level of its command.
"""

from collections.abc import Callable
from typing import TypeVar

from gonn_core.play.engines.client import EngineCrashed, EngineError, GtpClient
from gonn_core.play.engines.commands import Engine
from gonn_core.play.engines.player import EngineBoard, NoPoint
from gonn_core.play.game import Game
from gonn_core.play.gtp.parsing import GtpError

T = TypeVar("T")


class Guard:
    """A running engine that follows our game. Every method raises GtpError when the engine cannot say."""

    def __init__(self, engine: Engine, seed: int, timeout: float = 120.0):
        """`timeout`: seconds per command. Raises EngineError when the engine cannot be started or is none."""
        self._engine, self._seed, self._timeout = engine, seed, timeout
        self._start()
        self.name = self._board.client.ask("name")
        """What the engine calls itself."""

    def close(self) -> None:
        """Ends the engine."""
        self._board.client.close()

    def generate(self, game: Game, colour: int, cleanup: bool = False) -> int:
        """Its move: a point, PASS or RESIGN. A game that goes on otherwise makes it take that back."""
        return self._asking(lambda board: board.genmove(game, colour, "kgs-genmove_cleanup" if cleanup else "genmove"))

    def status(self, game: Game, status: str) -> frozenset[int]:
        """The stones it calls alive, dead or in seki."""
        return self._asking(lambda board: board.status(game, status))

    def score(self, game: Game) -> str:
        """Its result of the game, such as `B+3.5`."""
        return self._asking(lambda board: board.ask(game, "final_score"))

    def _asking(self, ask: Callable[[EngineBoard], T]) -> T:
        """Its answer. An engine that dies is started and asked once more; after a time-out only at the next
        question."""
        for attempt in (1, 2):
            try:
                if not self._board.client.running:
                    self._start()
                return ask(self._board)
            except EngineCrashed as error:
                if attempt == 2:
                    raise GtpError(f"guard: {error}") from None
            except EngineError as error:
                raise GtpError(f"guard: {error}") from None
            except NoPoint as error:
                raise GtpError(f"guard: answers {str(error)!r}, which is no point") from None
        raise AssertionError("unreachable")

    def _start(self) -> None:
        self._board = EngineBoard(GtpClient(self._engine.argv(self._seed), self._timeout))
