"""Who sits at a board that the referee watches: a net, a net with a guard, or an engine."""

from typing import Protocol

import numpy as np

from gonn_core.go.points import PASS
from gonn_core.play.engines.board import RESIGN
from gonn_core.play.engines.player import EnginePlayer
from gonn_core.play.game import Game
from gonn_core.play.net_player import NetPlayer

GUARD_LEVEL = 5
"""Level of the GNU Go that is asked whether to pass (spec: other systems 1.7)."""


class Seat(Protocol):
    """A player in one game. An EnginePlayer is one."""

    def move(self, game: Game, colour: int) -> int:
        """A point, PASS or RESIGN; the referee judges it. Raises EngineError."""


class Judge(Protocol):
    """Knows dead stones and territory. An EnginePlayer is one."""

    def dead(self, game: Game) -> frozenset[int]:
        """The points of dead stones at the end of a game. Raises EngineError."""

    def territory(self, game: Game) -> dict[int, frozenset[int]]:
        """Colour -> the empty points that are that side's at the end of a game. Raises EngineError."""


class NetSeat:
    """A net's player in one game."""

    def __init__(self, player: NetPlayer, draws: np.ndarray):
        """`draws`: of the game, one for each of its moves; see draws.game_draws."""
        self._player, self._draws = player, draws

    def move(self, game: Game, colour: int) -> int:
        """As Seat.move."""
        return self._player.moves([game], self._draws[len(game)][None])[0]


class GuardedSeat:
    """A net that passes and resigns when another engine would, as go-NN did with GNU Go (spec: other systems 1.7).

    The engine is asked first; a move of its own is taken back, and the net moves. It knows dead stones, too.
    """

    def __init__(self, net: NetSeat, guard: EnginePlayer):
        self._net, self._guard = net, guard

    def move(self, game: Game, colour: int) -> int:
        """As Seat.move."""
        wish = self._guard.move(game, colour)
        return wish if wish in (PASS, RESIGN) else self._net.move(game, colour)

    def dead(self, game: Game) -> frozenset[int]:
        """As Judge.dead."""
        return self._guard.dead(game)

    def territory(self, game: Game) -> dict[int, frozenset[int]]:
        """As Judge.territory."""
        return self._guard.territory(game)
