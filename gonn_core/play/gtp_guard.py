"""Another engine beside the net: asked before every move whether it would pass, and afterwards what is dead.

As go-NN did with GNU Go (spec: other_systems 1.7): asked first; when it passes or resigns, so does the net's player; otherwise its move is
taken back and the net moves. Clean-up moves and scores are its own. Published: level 5 before moves, level 10 for clean-up; here one
engine does both at the level of its command.
"""

from gonn_core.go.points import BLACK, SIZE, point_name

from .engines import Engine
from .game import Game
from .gtp_client import EngineCrashed, EngineError, GtpClient
from .gtp_parsing import GtpError, vertex

RESIGN = -2
"""What `generate` says instead of a point or PASS."""


class Guard:
    """A running engine that follows our game. Every method raises GtpError when the engine cannot say."""

    def __init__(self, engine: Engine, seed: int, timeout: float = 120.0):
        """`timeout`: seconds per command. Raises EngineError when the engine cannot be started or is none."""
        self._engine, self._seed, self._timeout = engine, seed, timeout
        self._start()
        self.name = self._client.ask("name")
        """What the engine calls itself."""

    def close(self) -> None:
        """Ends the engine."""
        self._client.close()

    def generate(self, game: Game, colour: int, cleanup: bool = False) -> int:
        """Its move: a point, PASS or RESIGN. It is not played on its board afterwards."""
        command = "kgs-genmove_cleanup" if cleanup else "genmove"
        answer = self._ask(game, f"{command} {_letter(colour)}")
        if answer.lower() == "resign":
            return RESIGN  # nothing was played
        move = _point(answer)
        self._moves.append(None)  # its own move is on its board now: `_follow` takes it back
        return move

    def status(self, game: Game, status: str) -> frozenset[int]:
        """The stones it calls alive, dead or in seki."""
        return frozenset(_point(word) for word in self._ask(game, f"final_status_list {status}").split())

    def score(self, game: Game) -> str:
        """Its result of the game, such as `B+3.5`."""
        return self._ask(game, "final_score")

    def _ask(self, game: Game, command: str) -> str:
        """Its answer at the position of a game. An engine that dies is started and asked once more; after a time-out only at the next question."""
        for trial in (1, 2):
            try:
                if not self._client.running:
                    self._start()
                self._follow(game)
                return self._client.ask(command)
            except EngineCrashed as error:
                if trial == 2:
                    raise GtpError(f"guard: {error}") from None
            except EngineError as error:
                raise GtpError(f"guard: {error}") from None
        raise AssertionError("unreachable")

    def _start(self) -> None:
        self._client = GtpClient(self._engine.argv(self._seed), self._timeout)
        self._root: tuple | None = None
        self._moves: list[tuple[int, int] | None] = []

    def _follow(self, game: Game) -> None:
        """Brings its board to ours: takes back what differs, plays the rest; starts anew where the beginning differs."""
        root = (game.komi, tuple(sorted(game.setup.items())))
        shared = 0
        while shared < min(len(self._moves), len(game.moves)) and self._moves[shared] == game.moves[shared]:
            shared += 1
        if root != self._root:
            self._root, shared = None, 0
            for command in (f"boardsize {SIZE}", "clear_board", f"komi {game.komi:g}"):
                self._client.ask(command)
            for p, colour in root[1]:
                self._client.ask(f"play {_letter(colour)} {point_name(p)}")
            self._root, self._moves = root, []
        while len(self._moves) > shared:
            self._client.ask("undo")
            self._moves.pop()
        for move in game.moves[shared:]:
            self._client.ask(f"play {_letter(move[0])} {point_name(move[1])}")
            self._moves.append(move)


def _point(word: str) -> int:
    try:
        return vertex(word)
    except GtpError:
        raise GtpError(f"guard: answers {word!r}, which is no point") from None


def _letter(colour: int) -> str:
    return "b" if colour == BLACK else "w"
