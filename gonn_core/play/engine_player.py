"""A GTP engine that follows a game of ours: it is told what it does not know yet, and asked for moves and dead stones."""

from collections.abc import Callable
from contextlib import ExitStack

from gonn_core.errors import printable
from gonn_core.go.points import BLACK, PASS, SIZE, point, point_name

from .engine_pool import EnginePool
from .game import Game
from .gtp_client import EngineCrashed, EngineTimeout, GtpClient

RESIGN = -2
"""What `move` gives instead of a point or PASS."""
MOST_RESTARTS = 1
"""Fresh starts of an engine within one game."""


class EnginePlayer:
    """An engine for one game. When it crashes or runs out of time it is started anew and shown the game, once; after that, and when it refuses
    a command, EngineError is raised.

    Used as a context manager, so that its process goes back to the pool.
    """

    def __init__(self, pool: EnginePool, seed: int):
        """Started when it is first asked. `seed`: of the game, for engines that take one."""
        self._pool, self._seed = pool, seed
        self._lent = ExitStack()
        self._client: GtpClient | None = None
        self._restarts = 0
        self._root: tuple | None = None
        self._shown: list[tuple[int, int]] = []

    def __enter__(self) -> "EnginePlayer":
        return self

    def __exit__(self, *error) -> None:
        self._lent.close()

    def move(self, game: Game, colour: int) -> int:
        """What it plays for a colour: a point, PASS or RESIGN; it need not be legal. Raises EngineError.

        It counts as shown: a game that goes on otherwise makes the engine take it back.
        """
        return self._asking(lambda: self._move(game, colour))

    def dead(self, game: Game) -> frozenset[int]:
        """The points of stones that it calls dead at the end of a game. Raises EngineError."""
        return self._asking(lambda: self._dead(game))

    def _move(self, game: Game, colour: int) -> int:
        self._follow(game)
        answer = self._client.ask(f"genmove {_name(colour)}").lower()
        if answer == "resign":
            return RESIGN
        move = self._point(answer)
        self._shown.append((colour, move))
        return move

    def _dead(self, game: Game) -> frozenset[int]:
        self._follow(game)
        return frozenset(self._point(word) for word in self._client.ask("final_status_list dead").split())

    def _point(self, text: str) -> int:
        try:
            return PASS if text.lower() == "pass" else point(text)
        except ValueError:
            self._client.kill()
            raise EngineCrashed(f"no move: {printable(text, 40)}") from None

    def _asking(self, ask: Callable):
        while True:
            try:
                return ask()
            except (EngineCrashed, EngineTimeout):
                self._lent.close()
                self._client = None
                if self._restarts == MOST_RESTARTS:
                    raise
                self._restarts += 1

    def _follow(self, game: Game) -> None:
        """Brings the engine's board to ours: takes back what differs, plays the rest; begins anew where the beginning differs."""
        if self._client is None:
            self._client = self._lent.enter_context(self._pool.lend(self._seed))
            self._root = None
        root = (game.komi, tuple(game.setup.items()))
        if root != self._root:
            for command in (f"boardsize {SIZE}", "clear_board", f"komi {game.komi:g}"):
                self._client.ask(command)
            for stone, colour in game.setup.items():
                self._client.ask(f"play {_name(colour)} {point_name(stone)}")
            self._root, self._shown = root, []
        moves = game.moves
        shared = 0
        while shared < min(len(self._shown), len(moves)) and self._shown[shared] == moves[shared]:
            shared += 1
        while len(self._shown) > shared:
            self._client.ask("undo")
            self._shown.pop()
        for colour, move in moves[shared:]:
            self._client.ask(f"play {_name(colour)} {point_name(move)}")
            self._shown.append((colour, move))


def _name(colour: int) -> str:
    return "black" if colour == BLACK else "white"

