"""Who can be compared with whom: players linked by games."""

import numpy as np


def components(games: np.ndarray) -> np.ndarray:
    """(n,) int: the same number for players linked by games, whoever won, by rising first member. games: (n, n), > 0
    where two met."""
    linked = (games + games.T) > 0
    labels = np.full(len(games), -1)
    for first in range(len(games)):
        if labels[first] < 0:
            labels[_reached(linked, first)] = labels.max() + 1
    return labels


def is_strong(points: np.ndarray) -> bool:
    """Whether from every player a chain of points taken leads to every other: only then do finite ratings fit best
    (Ford 1957).

    points: (n, n), what the player of the row took from the one of the column.
    """
    taken = points > 0
    return bool(_reached(taken, 0).all() and _reached(taken.T, 0).all())


def _reached(edges: np.ndarray, first: int) -> np.ndarray:
    """(n,) bool: what can be reached from `first` along edges[i, j]."""
    reached = np.zeros(len(edges), bool)
    reached[first] = True
    while True:
        grown = reached | edges[reached].any(axis=0)
        if (grown == reached).all():
            return reached
        reached = grown
