"""The game that a GTP controller plays with a net: its board, the moves it generates, what is dead at the end; and the
guard, another engine that may be asked first.

The guard works as GNU Go did for go-NN (spec: other_systems 1.7): it is asked before every move; when it passes or
resigns, so does the net's player; otherwise its move is taken back and the net moves. Clean-up moves, dead stones and
scores are the guard's. Published: level 5 before moves, level 10 for clean-up; here one engine does both at the level
of its command.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from gonn_core.go.points import BLACK, EMPTY, PASS, SIZE, WHITE, point_name
from gonn_core.play.engines.client import EngineCrashed, EngineError, GtpClient
from gonn_core.play.engines.commands import Engine
from gonn_core.play.engines.player import RESIGN, EngineBoard, NoPoint
from gonn_core.play.game import Game, IllegalMove
from gonn_core.play.gtp.protocol import GtpError
from gonn_core.play.net_player import NetPlayer
from gonn_core.play.rules import game_draws
from gonn_core.play.scoring import area, cleanup, colours_of, pass_alive, result_text

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
        """Its move: a point, PASS or RESIGN. It has played that move on its board, and takes it back when the game
        continues differently."""
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


class GtpSession:
    """A net at a board. Every method raises GtpError for what a controller may not ask, and the game is then as
    before."""

    def __init__(self, player: NetPlayer, seed: int, guard: Guard | None = None):
        """`seed`: of the draws of all games; game n's are a pure function of it and n. `guard`: needed by the passing
        rule `guard`, and asked about dead stones and results whenever there is one.
        """
        if player.choice.passing == "guard" and guard is None:
            raise ValueError("the passing rule 'guard' needs a guard")
        self._player, self._seed, self._guard = player, seed, guard
        self._number = 0
        self.game = Game()

    def new_game(self) -> None:
        """An empty board; komi stays."""
        self._number += 1
        self.game = Game(self.game.komi)

    def set_komi(self, komi: float) -> None:
        """Points that White gets, whatever was played already."""
        self.game.komi = komi

    def require_empty(self) -> None:
        """Raises GtpError when stones stand on the board, or moves were made."""
        if len(self.game) or self.game.setup:
            raise GtpError("board not empty")

    def set_up(self, stones: Mapping[int, int]) -> None:
        """Puts handicap stones on the empty board; White then moves."""
        self.game = Game(self.game.komi, stones, WHITE)

    def play(self, point: int, colour: int) -> None:
        """Plays a point or PASS for either colour, whichever moved last."""
        try:
            self.game.play(point, colour)
        except IllegalMove as error:
            raise GtpError(f"illegal move ({error.reason})") from None

    def undo(self) -> None:
        """Takes back the last move; handicap stones stay."""
        if not len(self.game):
            raise GtpError("cannot undo")
        self.game.undo()

    def generate(self, colour: int, cleanup: bool = False) -> int:
        """A move: a point, PASS or RESIGN. It is not played, and the same question gets the same answer.

        `cleanup`: for the end of a game whose dead stones are disputed: no pass before they are taken off.
        """
        if self._guard is not None and (cleanup or self._player.choice.passing == "guard"):
            advice = self._guard.generate(self.game, colour, cleanup)
            if cleanup or advice in (PASS, RESIGN):
                return advice
        with self._moving(colour) as game:
            if cleanup:
                return self._cleaning(game)
            draw = game_draws(self._seed, self._number, len(game) + 1)[-1:]
            return self._player.moves([game], draw)[0]

    def move(self, colour: int, cleanup: bool = False) -> int:
        """As `generate`, and played unless it is RESIGN."""
        move = self.generate(colour, cleanup)
        if move != RESIGN:
            self.play(move, colour)
        return move

    def policy(self, colour: int | None = None, symmetry: int | None = None) -> np.ndarray:
        """(361,) float64: the net's probabilities for the side to move, or for `colour`; under one symmetry 0..7
        instead of those that it chooses by."""
        with self._moving(self.game.to_move if colour is None else colour) as game:
            return self._player.policies([game], symmetry)[0]

    def status(self, status: str) -> frozenset[int]:
        """Points of the stones that are `alive`, `dead` or in `seki`. Without a guard, dead are those inside the
        enemy's unconditionally alive regions, and all others alive."""
        if self._guard is not None:
            return self._guard.status(self.game, status)
        dead = self._dead()
        if status == "dead":
            return dead
        if status == "alive":
            return frozenset(np.flatnonzero(colours_of(self.game.stones()) != EMPTY).tolist()) - dead
        return frozenset()

    def score(self) -> str:
        """The result if the game ended here, such as `B+3.5`, by area, less dead stones; `0` for a draw."""
        if self._guard is not None:
            return self._guard.score(self.game)
        black, white = area(self.game.stones(), self._dead())
        return result_text(black - white - self.game.komi)

    def _dead(self) -> frozenset[int]:
        return cleanup(self.game.stones())[0]

    def _cleaning(self, game: Game) -> int:
        """The likeliest candidate among points that are nobody's for certain and liberties of dead stones, else PASS
        (ours)."""
        colours, owned = colours_of(game.stones()), pass_alive(game.stones())
        theirs = BLACK + WHITE - game.to_move
        dead = np.zeros((SIZE + 2, SIZE + 2), bool)
        dead[1:-1, 1:-1] = (owned[game.to_move] & (colours == theirs)).reshape(SIZE, SIZE)
        takes = (dead[:-2, 1:-1] | dead[2:, 1:-1] | dead[1:-1, :-2] | dead[1:-1, 2:]).ravel()
        allowed = game.candidates() & (takes | ~(owned[BLACK] | owned[WHITE]))
        if not allowed.any():
            return PASS
        return int(np.where(allowed, self._player.policies([game])[0], -1.0).argmax())

    @contextmanager
    def _moving(self, colour: int) -> Iterator[Game]:
        """The game with `colour` to move, put back afterwards."""
        before = self.game.to_move
        self.game.to_move = colour
        try:
            yield self.game
        finally:
            self.game.to_move = before


def move_name(move: int) -> str:
    """A generated move as the protocol writes it."""
    return "resign" if move == RESIGN else point_name(move)
