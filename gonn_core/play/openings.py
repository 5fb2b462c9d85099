"""Random setup stones, so that games of players who always play the same differ."""

from typing import Literal

import numpy as np

from gonn_core.go.points import BLACK, POINTS, SIZE, WHITE
from gonn_core.play.draws import opening_stream
from gonn_core.settings.strict import Strict

MOST_STONES = 4
_LINES = {3: 0.50, 4: 0.33, 5: 0.15}
"""Share of setup stones per line, counted from the edge; the rest go to the centre (ours, about where first moves are
played)."""


def _points_of_line(line: int) -> np.ndarray:
    rows, cols = np.divmod(np.arange(POINTS), SIZE)
    distance = np.minimum(np.minimum(rows, cols), np.minimum(SIZE - 1 - rows, SIZE - 1 - cols)) + 1
    return np.flatnonzero(distance == line)


_CHANCES = np.zeros(POINTS)
for _line, _share in _LINES.items():
    _CHANCES[_points_of_line(_line)] = _share / len(_points_of_line(_line))
_CHANCES[POINTS // 2] = 1 - sum(_LINES.values())


def random_setup(generator: np.random.Generator) -> dict[int, int]:
    """Setup stones of one game, point -> colour: 1 to 4, black and white in turn, on the third to fifth lines or the
    centre point.

    Black moves first after an even number of stones, else White: `first_mover`.
    """
    stones = int(generator.integers(1, MOST_STONES + 1))
    points = generator.choice(POINTS, stones, replace=False, p=_CHANCES)
    return {int(point): (BLACK, WHITE)[index % 2] for index, point in enumerate(points)}


def first_mover(setup: dict[int, int]) -> int:
    """Who moves first after these setup stones: the colours go on in turn."""
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
        setup = random_setup(opening_stream(seed, game // 2))
        return setup, first_mover(setup)
