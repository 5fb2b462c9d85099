"""A GTP engine as a player: its board, kept equal to a game of ours, and its restarts."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from gonn_core.errors import printable
from gonn_core.go.points import BLACK, PASS, SIZE, WHITE, point, point_name
from gonn_core.play.engines.client import EngineCrashed, EngineTimeout, GtpClient
from gonn_core.play.engines.pool import EnginePool
from gonn_core.play.game import Game

T = TypeVar("T")

MOST_RESTARTS = 1
"""Fresh starts of an engine within one game."""
RESIGN = -2
"""What `genmove` gives instead of a point or PASS."""


class NoPoint(ValueError):
    """An engine's word for a point that is none; the text is its answer."""


class EngineBoard:
    """What an engine has been shown. Every method raises EngineError when the engine fails or refuses, NoPoint for an
    answer that is none."""

    def __init__(self, client: GtpClient):
        """`client`: a started engine, whatever is on its board."""
        self.client = client
        self._root: tuple | None = None
        self.shown: list[tuple[int, int]] = []
        """The moves (colour, point or PASS) on its board."""

    def genmove(self, game: Game, colour: int, command: str = "genmove") -> int:
        """Its move in a game: a point, PASS or RESIGN; it need not be legal.

        The engine has played it on its board, and takes it back when the game continues differently.
        """
        answer = self.ask(game, f"{command} {_name(colour)}")
        if answer.lower() == "resign":
            return RESIGN  # nothing was played
        move = read_point(answer)
        self.shown.append((colour, move))
        return move

    def status(self, game: Game, status: str) -> frozenset[int]:
        """What it calls `alive`, `dead` or `seki` (points of stones), `black_territory` or `white_territory` (empty
        ones) at the end of a game."""
        return frozenset(read_point(word) for word in self.ask(game, f"final_status_list {status}").split())

    def ask(self, game: Game, command: str) -> str:
        """Its answer to a command at the position of a game."""
        self._follow(game)
        return self.client.ask(command)

    def _follow(self, game: Game) -> None:
        """Takes back what differs and plays the rest; begins anew where the beginning differs."""
        root = (game.komi, tuple(sorted(game.setup.items())))
        if root != self._root:
            self._root = None
            for command in (f"boardsize {SIZE}", "clear_board", f"komi {game.komi:g}"):
                self.client.ask(command)
            for stone, colour in root[1]:
                self._play(colour, stone)
            self._root, self.shown = root, []
        shared = 0
        while shared < min(len(self.shown), len(game.moves)) and self.shown[shared] == game.moves[shared]:
            shared += 1
        while len(self.shown) > shared:
            self.client.ask("undo")
            self.shown.pop()
        for move in game.moves[shared:]:
            self._play(*move)
            self.shown.append(move)

    def _play(self, colour: int, move: int) -> None:
        self.client.ask(f"play {_name(colour)} {point_name(move)}")


def read_point(word: str) -> int:
    """A point or PASS. Raises NoPoint."""
    try:
        return PASS if word.lower() == "pass" else point(word)
    except ValueError:
        raise NoPoint(word) from None


def _name(colour: int) -> str:
    return "black" if colour == BLACK else "white"


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
