"""The game that a GTP controller plays with a net: its board, the moves it generates, what is dead at the end; and the
guard, another engine that may be asked first.

The guard works as GNU Go did for go-NN (spec: other_systems 1.7): it is asked before every move; when it passes or
resigns, so does the net's player; otherwise its move is taken back and the net moves. Clean-up moves, dead stones and
scores are the guard's. Published: level 5 before moves, level 10 for clean-up; here one engine does both at the level
of its command.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from gonn_core.go.points import BLACK, EMPTY, PASS, SIZE, WHITE, point_name
from gonn_core.play.engines.players import RESIGN, EnginePlayer
from gonn_core.play.game import Game, IllegalMove
from gonn_core.play.gtp.protocol import GtpError
from gonn_core.play.net_player import NetPlayer
from gonn_core.play.rules import game_draws
from gonn_core.play.scoring import area, cleanup, colours_of, pass_alive, result_text


class GtpSession:
    """A net at a board. Methods raise GtpError for what a controller may not ask, EngineError when the guard fails; the
    game is then as before."""

    def __init__(
        self, player: NetPlayer, seed: int, guard: EnginePlayer | None = None, name: str = "gonn", version: str = ""
    ):
        """`seed`: of the draws of all games; game n's are a pure function of it and n. `guard`: needed by the passing
        rule `guard`, and asked about dead stones and results whenever there is one. name, version: what the engine
        calls itself.
        """
        if player.choice.passing == "guard" and guard is None:
            raise ValueError("the passing rule 'guard' needs a guard")
        self.name, self.version = name, version
        self._player, self._seed, self._guard = player, seed, guard
        self._number = 0
        self.game = Game()

    def new_game(self) -> None:
        """An empty board; komi stays."""
        self._number += 1
        self.game = Game(self.game.komi)

    def set_up(self, stones: Mapping[int, int]) -> None:
        """Puts handicap stones on the empty board; White then moves."""
        if len(self.game) or self.game.setup:
            raise GtpError("board not empty")
        self.game = Game(self.game.komi, stones, WHITE)

    def play(self, point: int, colour: int) -> None:
        """Plays a point or PASS for either colour, whichever moved last."""
        try:
            self.game.play(point, colour)
        except IllegalMove as error:
            raise GtpError(f"illegal move ({error.reason})") from None

    def generate(self, colour: int, cleanup: bool = False) -> int:
        """A move: a point, PASS or RESIGN. It is not played, and the same question gets the same answer.

        `cleanup`: for the end of a game whose dead stones are disputed: no pass before they are taken off.
        """
        if self._guard is not None and (cleanup or self._player.choice.passing == "guard"):
            advice = self._guard.move(self.game, colour, "kgs-genmove_cleanup" if cleanup else "genmove")
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

    def policy(self, colour: int) -> np.ndarray:
        """(361,) float64: the net's probabilities if `colour` moves."""
        with self._moving(colour) as game:
            return self._player.policies([game])[0]

    def status(self, status: str) -> frozenset[int]:
        """Points of the stones that are `alive`, `dead` or in `seki`. Without a guard, dead are those inside the
        enemy's unconditionally alive regions, and all others alive."""
        if self._guard is not None:
            return self._guard.status(self.game, status)
        dead = cleanup(self.game.stones())[0]
        stones = frozenset(np.flatnonzero(colours_of(self.game.stones()) != EMPTY).tolist())
        return {"dead": dead, "alive": stones - dead}.get(status, frozenset())

    def score(self) -> str:
        """The result if the game ended here, such as `B+3.5`, by area, less dead stones; `0` for a draw."""
        if self._guard is not None:
            return self._guard.ask(self.game, "final_score", str)
        black, white = area(self.game.stones(), self.status("dead"))
        return result_text(black - white - self.game.komi)

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
