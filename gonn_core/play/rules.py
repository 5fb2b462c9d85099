"""What decides the games of a match apart from its players: rules, openings, and the random numbers of each game.

Random numbers are pure functions of the match's seed and the game's number.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

from gonn_core.go.points import BLACK, POINTS, SIZE, WHITE
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

_DRAWS, _OPENING = 1, 2  # purposes of random streams
_MOST_STONES = 4
_LINES = {3: 0.50, 4: 0.33, 5: 0.15}
"""Share of setup stones per line, counted from the edge; the rest go to the centre (ours, about where first moves are
played)."""


_EDGE = np.minimum(np.arange(SIZE), np.arange(SIZE)[::-1]) + 1
_LINE = np.minimum.outer(_EDGE, _EDGE).ravel()
_CHANCES = np.zeros(POINTS)
for _line, _share in _LINES.items():
    _CHANCES[_line == _LINE] = _share / np.count_nonzero(_line == _LINE)
_CHANCES[POINTS // 2] = 1 - sum(_LINES.values())


def random_setup(generator: np.random.Generator) -> dict[int, int]:
    """Setup stones of one game, point -> colour: 1 to 4, black and white in turn, on the third to fifth lines or the
    centre point.

    Black moves first after an even number of stones, else White: `first_mover`.
    """
    stones = int(generator.integers(1, _MOST_STONES + 1))
    points = generator.choice(POINTS, stones, replace=False, p=_CHANCES)
    return {int(point): (BLACK, WHITE)[index % 2] for index, point in enumerate(points)}


def first_mover(setup: dict[int, int]) -> int:
    """Who moves first after these setup stones: the colours alternate."""
    return BLACK if len(setup) % 2 == 0 else WHITE


class Openings(Strict):
    """How the games of a match begin; part of its identity."""

    kind: Literal["empty", "stones"] = "empty"
    """empty: on an empty board. stones: games 2k and 2k + 1, in which the players change colours, begin from the same
    `random_setup`. Players that always move alike play one game again and again without it."""

    def of_game(self, seed: int, game: int) -> tuple[dict[int, int], int]:
        """Setup stones (point -> colour) and who moves first in a game of the match with that seed."""
        if self.kind == "empty":
            return {}, BLACK
        setup = random_setup(_stream(seed, game // 2, _OPENING))
        return setup, first_mover(setup)


def game_draws(seed: int, game: int, moves: int) -> np.ndarray:
    """(moves,) float64 in [0, 1): draw m decides move m, counted from 0, of game number `game`. A longer array begins
    with a shorter one."""
    return _stream(seed, game, _DRAWS).random(moves)


def _stream(seed: int, number: int, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, number, purpose])))
