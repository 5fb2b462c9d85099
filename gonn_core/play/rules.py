"""The rules under which games are refereed, in one place, and shown with every match."""

from typing import Literal

from gonn_core.go.points import POINTS
from gonn_core.settings.strict import Strict

KOMI = 7.5
MOST_MOVES = 2 * POINTS
"""A game still on after so many moves, passes among them, is scored as it stands."""


class Rules(Strict):
    """Part of a match's identity: another value is another match."""

    komi: float = KOMI
    scoring: Literal["area"] = "area"
    """Chinese: stones and surrounded points, after stones inside the enemy's unconditionally alive regions are taken
    off; where an engine plays that can tell, after its dead stones are."""
    suicide: Literal[False] = False
    superko: Literal["positional"] = "positional"
    most_moves: int = MOST_MOVES
    version: Literal[1] = 1
    """Raised when referee or move choice compute something else."""

    def sentence(self) -> str:
        """For people, on one line."""
        return (
            f"area scoring (Chinese), komi {self.komi:g}, no suicide, positional superko, two passes end the game, "
            f"after {self.most_moves} moves it is scored as it stands; a refused move loses"
        )
