"""The rules under which games are refereed, in one place, and shown with every match."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from gonn_core.go.points import POINTS
from gonn_core.settings.strict import Strict

KOMI = 7.5
JAPANESE_KOMI = 6.5
MOST_MOVES = 2 * POINTS
"""A game still on after so many moves, passes among them, is scored as it stands."""
RuleSet = Literal["chinese", "japanese"]


class Rules(Strict):
    """Part of a match's identity: another value is another match."""

    komi: float = KOMI
    scoring: Literal["area", "territory"] = "area"
    """area: Chinese, stones and surrounded points, after stones inside the enemy's unconditionally alive regions are
    taken off; where an engine plays that can tell, after its dead stones are. territory: Japanese, points of territory
    by that engine's word, prisoners and dead stones; without such an engine no game is scored so."""
    suicide: Literal[False] = False
    superko: Literal["positional", "none"] = "positional"
    """none: the simple ko alone, as Japanese rules have it; a game that goes round in longer circles ends at
    `most_moves`."""
    most_moves: int = MOST_MOVES
    version: Literal[1] = 1
    """Raised when referee or move choice compute something else."""

    @property
    def name(self) -> RuleSet:
        """By the scoring."""
        return "chinese" if self.scoring == "area" else "japanese"

    def sentence(self) -> str:
        """For people, on one line."""
        counted = {"area": "area scoring (Chinese)", "territory": "territory scoring (Japanese, by GNU Go's word)"}
        ko = {"positional": "positional superko", "none": "simple ko"}
        return (
            f"{counted[self.scoring]}, komi {self.komi:g}, no suicide, {ko[self.superko]}, two passes end the game, "
            f"after {self.most_moves} moves it is scored as it stands; a refused move loses"
        )


RULES: Mapping[RuleSet, Rules] = MappingProxyType(
    {"chinese": Rules(), "japanese": Rules(komi=JAPANESE_KOMI, scoring="territory", superko="none")}
)
"""The rules that a match can ask for by name. Komi is ours: the documents that played by them name none."""
