"""How strong players are, from the games of matches: tables of points and games, ratings, Wilson's intervals.

Ratings are by the model of Bradley and Terry: the log odds of a win are the difference of two ratings. The best fit is
found by Newton's method; the log likelihood is concave, and the covariance is the inverse of its curvature. A prior
keeps the ratings of players who won or lost every game finite: VIRTUAL_DRAWS for each player, spread over the
opponents in proportion to the games, hence at the default as if two players who met each other alone had shared one
game more (Jeffreys' prior of a share). Ours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from gonn_core.play.match.record import SIDES, Match, game_points, player_id

VIRTUAL_DRAWS = 1.0
_MOST_STEPS = 200
ELO_OF_UNIT = 400 / math.log(10)
"""Elo of one unit of log odds."""

NORMAL_95 = 1.959963984540054
"""Half-width, in standard deviations, of the central 95 % of a normal distribution."""


@dataclass(frozen=True)
class Tally:
    """Players by the order in which matches name them, and (n, n) tables: points that the player of the row took from
    the one of the column, and games of the two.

    A match of a player against itself (the same identity on both sides) says nothing about ratings and is left out.
    """

    ids: tuple[str, ...]
    identities: Mapping[str, dict]
    taken: np.ndarray
    met: np.ndarray


def tally(matches: Sequence[Match], first: Sequence[dict] = ()) -> Tally:
    """Points and games of all players of these matches. first: identities of players who come before the others, with
    or without games."""
    identities = {player_id(identity): identity for identity in first}
    identities |= {player_id(match.players[side]): match.players[side] for match in matches for side in SIDES}
    ids = tuple(identities)
    taken, met = np.zeros((len(ids), len(ids))), np.zeros((len(ids), len(ids)))
    for match in matches:
        a, b = (ids.index(player_id(match.players[side])) for side in SIDES)
        if a == b:
            continue
        for player, opponent, side in ((a, b, "A"), (b, a, "B")):
            taken[player, opponent] += sum(game_points(game, side) for game in match.games)
            met[player, opponent] += len(match.games)
    return Tally(ids, identities, taken, met)


@dataclass(frozen=True)
class Ratings:
    """Ratings of n players.

    elo: (n,), each relative to the anchor of its component; covariance: (n, n) in Elo², nil for anchors and between
    components;
    component: (n,) int; anchors: player at 0 of each component.
    """

    elo: np.ndarray
    covariance: np.ndarray
    component: np.ndarray
    anchors: tuple[int, ...]

    def half_width(self, player: int) -> float:
        """Half of the 95 % interval in Elo of a player's rating relative to its anchor; 0 for the anchor."""
        return float(NORMAL_95 * np.sqrt(self.covariance[player, player]))

    def difference(self, one: int, other: int) -> tuple[float, float] | None:
        """By how much Elo `one` is stronger than `other`, and the standard deviation of that; None when no games link
        them."""
        if self.component[one] != self.component[other]:
            return None
        variance = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        return float(self.elo[one] - self.elo[other]), float(np.sqrt(max(variance, 0.0)))


def rate(taken: np.ndarray, met: np.ndarray, anchor: int = 0) -> Ratings:
    """Rate n players.

    taken: (n, n), points of the player of the row from the one of the column, a draw being half a point; met: (n, n),
    their games. anchor: the player at 0; components without it are anchored at their first player. Raises ValueError
    for tables that cannot be.
    """
    taken, met = np.asarray(taken, float), np.asarray(met, float)
    n = len(met)
    if n == 0 or taken.shape != (n, n) or met.shape != (n, n) or not 0 <= anchor < n:
        raise ValueError(f"points {taken.shape}, games {met.shape}, anchor {anchor}: want two (n, n) and one of n")
    if np.diag(met).any() or (taken < 0).any() or not np.allclose(taken + taken.T, met):
        raise ValueError("two players share the points of their games, and nobody plays against itself")
    component = connected_components(met, directed=False)[1]
    anchors = tuple(
        anchor if component[anchor] == label else int(np.argmax(component == label))
        for label in range(component.max() + 1)
    )
    played = np.maximum(met.sum(axis=1), 1.0)
    draws = VIRTUAL_DRAWS / 2 * met * (1 / played[:, None] + 1 / played[None, :])
    won, games = taken + draws / 2, met + draws
    free = np.setdiff1d(np.arange(n), anchors)
    ratings, step = np.zeros(n), np.zeros(n)

    def likelihood(values: np.ndarray) -> float:
        return -float((won * np.logaddexp(0, np.subtract.outer(-values, -values))).sum())

    def curvature() -> np.ndarray:
        """Negative second derivative of the log likelihood by the free ratings."""
        shares = expit(np.subtract.outer(ratings, ratings))
        weights = games * shares * (1 - shares)
        return (np.diag(weights.sum(axis=1)) - weights)[np.ix_(free, free)]

    for _ in range(_MOST_STEPS):
        surprise = won - games * expit(np.subtract.outer(ratings, ratings))
        step[free] = np.linalg.solve(curvature(), surprise.sum(axis=1)[free])
        size, current = 1.0, likelihood(ratings)
        # A whole step is right near the top; far from it it may overshoot.
        while likelihood(ratings + size * step) < current - 1e-9 * abs(current):
            size /= 2
        ratings = ratings + size * step
        if np.abs(step).max() < 1e-11:
            break
    covariance = np.zeros((n, n))
    covariance[np.ix_(free, free)] = np.linalg.inv(curvature()) * ELO_OF_UNIT**2
    return Ratings(ratings * ELO_OF_UNIT, covariance, component, anchors)


def wilson(points: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval of the share points / games. Raises ValueError without games."""
    if games <= 0 or not 0 <= points <= games:
        raise ValueError(f"{points} points of {games} games")
    share, squared = points / games, NORMAL_95**2
    middle = (share + squared / (2 * games)) / (1 + squared / games)
    half = NORMAL_95 / (1 + squared / games) * math.sqrt(share * (1 - share) / games + squared / (4 * games**2))
    return max(0.0, middle - half), min(1.0, middle + half)
