"""How strong players are, from the games of matches: tables of points and games, ratings, Wilson's intervals.

Ratings are by the model of Bradley and Terry: the log odds of a win are the difference of two ratings, and what Black
is worth. The best fit is found by Newton's method; the log likelihood is concave, and the covariance is the inverse of
its curvature. A prior keeps the ratings of players who won or lost every game finite: VIRTUAL_DRAWS for each player,
spread over the opponents in proportion to the games, half with each colour, hence at the default as if two players who
met each other alone had shared one game more (Jeffreys' prior of a share). Ours.
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
    """Players by the order in which matches name them, and (n, n) tables: games in which the player of the row had
    Black against the one of the column, and the points that it took in them.

    A match of a player against itself (the same identity on both sides) says nothing about ratings and is left out.
    """

    ids: tuple[str, ...]
    identities: Mapping[str, dict]
    taken: np.ndarray
    met: np.ndarray

    @property
    def games(self) -> np.ndarray:
        """(n, n): games of two players, with either colour."""
        return self.met + self.met.T

    @property
    def points(self) -> np.ndarray:
        """(n,): points of each player, with both colours."""
        return self.taken.sum(axis=1) + (self.met - self.taken).sum(axis=0)


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
        for black, white, side in ((a, b, "A"), (b, a, "B")):
            with_black = [game_points(game, side) for game in match.games if game.black == side]
            taken[black, white] += sum(with_black)
            met[black, white] += len(with_black)
    return Tally(ids, identities, taken, met)


@dataclass(frozen=True)
class Ratings:
    """Ratings of n players.

    elo: (n,), each relative to the anchor of its component; covariance: (n, n) in Elo², nil for anchors and between
    components;
    component: (n,) int; anchors: player at 0 of each component; black: Elo that Black is worth, and half of its 95 %
    interval.
    """

    elo: np.ndarray
    covariance: np.ndarray
    component: np.ndarray
    anchors: tuple[int, ...]
    black: tuple[float, float]

    @property
    def black_text(self) -> str:
        """`Black is worth 12 ± 20 Elo`."""
        return f"Black is worth {self.black[0]:.0f} ± {self.black[1]:.0f} Elo".replace("-", "−")

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

    taken, met: those of `Tally`, a draw being half a point. anchor: the player at 0; components without it are anchored
    at their first player. Raises ValueError for tables that cannot be.
    """
    taken, met = np.asarray(taken, float), np.asarray(met, float)
    n = len(met)
    if n == 0 or taken.shape != (n, n) or met.shape != (n, n) or not 0 <= anchor < n:
        raise ValueError(f"points {taken.shape}, games {met.shape}, anchor {anchor}: want two (n, n) and one of n")
    if np.diag(met).any() or (taken < 0).any() or (taken > met).any():
        raise ValueError("nobody plays against itself or takes more points than games")
    component = connected_components(met, directed=False)[1]
    anchors = tuple(
        anchor if component[anchor] == label else int(np.argmax(component == label))
        for label in range(component.max() + 1)
    )
    both = met + met.T
    played = np.maximum(both.sum(axis=1), 1.0)
    draws = VIRTUAL_DRAWS / 2 * both * (1 / played[:, None] + 1 / played[None, :])
    won, games = taken + draws / 4, met + draws / 2
    # Log odds that the player of the row, with Black, beats the one of the column; the last unknown is what Black is
    # worth, on which nothing depends where nobody met.
    free = np.append(np.setdiff1d(np.arange(n), anchors), [n] if met.any() else []).astype(int)
    one, other = np.kron(np.eye(n), np.ones((n, 1))), np.kron(np.ones((n, 1)), np.eye(n))
    rows, won, games = np.hstack([one - other, np.ones((n * n, 1))])[:, free], won.ravel(), games.ravel()
    values = np.zeros(len(free))

    def likelihood(values: np.ndarray) -> float:
        return -float(won @ np.logaddexp(0, -rows @ values) + (games - won) @ np.logaddexp(0, rows @ values))

    def curvature() -> np.ndarray:
        """Negative second derivative of the log likelihood."""
        shares = expit(rows @ values)
        return rows.T @ ((games * shares * (1 - shares))[:, None] * rows)

    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(curvature(), rows.T @ (won - games * expit(rows @ values)))
        size, current = 1.0, likelihood(values)
        # A whole step is right near the top; far from it it may overshoot.
        while likelihood(values + size * step) < current - 1e-9 * abs(current):
            size /= 2
        values = values + size * step
        if np.abs(step).max(initial=0) < 1e-11:
            break
    elo, covariance = np.zeros(n + 1), np.zeros((n + 1, n + 1))
    elo[free], covariance[np.ix_(free, free)] = values * ELO_OF_UNIT, np.linalg.inv(curvature()) * ELO_OF_UNIT**2
    black = float(elo[n]), float(NORMAL_95 * np.sqrt(covariance[n, n]))
    return Ratings(elo[:n], covariance[:n, :n], component, anchors, black)


def wilson(points: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval of the share points / games. Raises ValueError without games."""
    if games <= 0 or not 0 <= points <= games:
        raise ValueError(f"{points} points of {games} games")
    share, squared = points / games, NORMAL_95**2
    middle = (share + squared / (2 * games)) / (1 + squared / games)
    half = NORMAL_95 / (1 + squared / games) * math.sqrt(share * (1 - share) / games + squared / (4 * games**2))
    return max(0.0, middle - half), min(1.0, middle + half)
