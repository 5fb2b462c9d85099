"""How strong players are, from the games of matches: tables of points and games, ratings, Wilson's intervals.

Ratings are by the model of Bradley and Terry: the log odds of a win are the difference of two ratings. The best fit is
found by Newton's method; the log likelihood is concave, and the covariance is the inverse of its curvature. A prior
keeps the ratings of players who won or lost every game finite: `virtual` draws for each player, spread over the
opponents in proportion to the games, hence at the default as if two players who met each other alone had shared one
game more (Jeffreys' prior of a share). Ours; with 0 the ratings are those of maximum likelihood.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr

from gonn_core.play.match.record import SIDES, Match, Side, game_points, player_id

VIRTUAL_DRAWS = 1.0
_MOST_STEPS = 200
ELO_OF_UNIT = 400 / math.log(10)
"""Elo of one unit of log odds."""

NORMAL_95 = 1.959963984540054
"""Half-width, in standard deviations, of the central 95 % of a normal distribution."""


@dataclass(frozen=True)
class Tally:
    """Players by the order in which matches name them, and (n, n) tables by Black's and White's number: points of
    Black, games.

    A match of a player against itself (the same identity on both sides) says nothing about ratings and is left out.
    """

    ids: tuple[str, ...]
    identities: Mapping[str, dict]
    points: np.ndarray
    games: np.ndarray

    def number(self, player: str) -> int:
        """Number of the player of that id."""
        return self.ids.index(player)

    @property
    def met(self) -> np.ndarray:
        """(n, n) games of two players, whichever was Black."""
        return self.games + self.games.T

    @property
    def taken(self) -> np.ndarray:
        """(n, n) points of the row's player against the column's, with either colour."""
        return self.points + (self.games - self.points).T


def tally(matches: Sequence[Match], first: Sequence[dict] = ()) -> Tally:
    """Points and games of all players of these matches. first: identities of players who come before the others, with
    or without games."""
    identities = {player_id(each): each for each in first}
    identities |= {player_id(match.players[side]): match.players[side] for match in matches for side in SIDES}
    ids = tuple(identities)
    points, games = np.zeros((len(ids), len(ids))), np.zeros((len(ids), len(ids)))
    for match in matches:
        number = {side: ids.index(player_id(match.players[side])) for side in SIDES}
        if number["A"] == number["B"]:
            continue
        for game in match.games:
            white: Side = "B" if game.black == "A" else "A"
            points[number[game.black], number[white]] += game_points(game, game.black)
            games[number[game.black], number[white]] += 1
    return Tally(ids, identities, points, games)


@dataclass(frozen=True)
class Ratings:
    """Ratings of n players.

    elo: (n,), each relative to the anchor of its component; covariance: (n, n) in Elo², nil for anchors and between
    components;
    component: (n,) int; anchors: player at 0 of each component. colour: Elo that Black has before the first move, and
    its standard deviation; None where it was not asked for (it is then taken for 0).
    """

    elo: np.ndarray
    covariance: np.ndarray
    component: np.ndarray
    anchors: tuple[int, ...]
    colour: tuple[float, float] | None = None

    def deviation(self, player: int) -> float:
        """Standard deviation in Elo of a player's rating relative to its anchor; 0 for the anchor."""
        return float(np.sqrt(self.covariance[player, player]))

    def half_width(self, player: int) -> float:
        """Half of the 95 % interval of a rating, in Elo."""
        return NORMAL_95 * self.deviation(player)

    def difference(self, one: int, other: int) -> tuple[float, float] | None:
        """By how much Elo `one` is stronger than `other`, and the standard deviation of that; None when no games link
        them."""
        if self.component[one] != self.component[other]:
            return None
        variance = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        return float(self.elo[one] - self.elo[other]), float(np.sqrt(max(variance, 0.0)))

    def superiority(self, one: int, other: int) -> float | None:
        """Likelihood that `one` is stronger than `other`; None when no games link them."""
        difference = self.difference(one, other)
        if difference is None or one == other:
            return None
        return float(ndtr(difference[0] / difference[1]))


def rate(
    points: np.ndarray, games: np.ndarray, anchor: int = 0, virtual: float = VIRTUAL_DRAWS, colour: bool = False
) -> Ratings:
    """Rate n players.

    points: (n, n), what the player of the row took as Black from the one of the column as White, a draw being half a
    point; games: (n, n), how many such games there were. anchor: the player at 0; components without it are anchored at
    their first player. virtual: draws of the prior. colour: whether Black's advantage is estimated too. Raises
    ValueError where the games leave ratings or advantage open.
    """
    points, games = np.asarray(points, float), np.asarray(games, float)
    _check(points, games, anchor)
    component = connected_components(games, directed=False)[1]
    anchors = tuple(
        anchor if component[anchor] == label else int(np.argmax(component == label))
        for label in range(component.max() + 1)
    )
    if virtual == 0:
        _check_finite(points + (games - points).T, component)
    free = np.array([player for player in range(len(games)) if player not in anchors], int)
    fitted, curvature = _newton(points, games, _prior(games, virtual), free, colour)
    try:
        inverse = np.linalg.inv(curvature) * ELO_OF_UNIT**2
    except np.linalg.LinAlgError:
        raise ValueError("the games do not tell the advantage of Black: nobody played with both colours") from None
    covariance = np.zeros(games.shape)
    covariance[np.ix_(free, free)] = inverse[: len(free), : len(free)]
    # The advantage of Black is common to all; ratings of two components have no scale in common.
    covariance *= component[:, None] == component[None, :]
    elo = np.zeros(len(games))
    elo[free] = fitted[: len(free)] * ELO_OF_UNIT
    advantage = (float(fitted[-1] * ELO_OF_UNIT), float(np.sqrt(inverse[-1, -1]))) if colour else None
    return Ratings(elo, covariance, component, anchors, advantage)


def _check(points: np.ndarray, games: np.ndarray, anchor: int) -> None:
    n = len(games)
    if n == 0 or points.shape != (n, n) or games.shape != (n, n) or not 0 <= anchor < n:
        raise ValueError(
            f"points {points.shape}, games {games.shape}, anchor {anchor}: want two (n, n) and one of n players"
        )
    if np.diag(games).any() or (points < 0).any() or (points > games).any():
        raise ValueError("points must lie between 0 and the games, and nobody plays against itself")


def _check_finite(taken: np.ndarray, component: np.ndarray) -> None:
    """Raises ValueError unless maximum likelihood has finite ratings: from every player a chain of points taken leads
    to every other (Ford 1957). taken: (n, n), points of the row's player against the column's, with either colour."""
    for label in range(component.max() + 1):
        members = np.flatnonzero(component == label)
        if connected_components(taken[np.ix_(members, members)], connection="strong")[0] > 1:
            raise ValueError(
                "some players never took a point from the others: without virtual draws their ratings have no bound"
            )


def _prior(games: np.ndarray, virtual: float) -> np.ndarray:
    """(n, n) symmetric: virtual draws between two players."""
    met = games + games.T
    played = np.maximum(met.sum(axis=1), 1.0)
    return virtual / 2 * met * (1 / played[:, None] + 1 / played[None, :])


def _newton(points, games, prior, free: np.ndarray, colour: bool) -> tuple[np.ndarray, np.ndarray]:
    """Fitted free ratings and then Black's advantage, in log odds, and the negative second derivative there."""
    values = np.zeros(len(free) + colour)
    current = _likelihood(values, points, games, prior, free, colour)
    for _ in range(_MOST_STEPS):
        gradient, curvature = _derivatives(values, points, games, prior, free, colour)
        try:
            step = np.linalg.solve(curvature, gradient)
        except np.linalg.LinAlgError:
            raise ValueError("the games do not tell the advantage of Black: nobody played with both colours") from None
        size, least = 1.0, current - 1e-9 * abs(current)
        # A whole step is right near the top; far from it it may overshoot.
        while (likelihood := _likelihood(values + size * step, points, games, prior, free, colour)) < least:
            size /= 2
        values, current = values + size * step, likelihood
        if np.abs(step).max(initial=0.0) < 1e-11:
            break
    return values, _derivatives(values, points, games, prior, free, colour)[1]


def _odds(values: np.ndarray, n: int, free: np.ndarray, colour: bool) -> tuple[np.ndarray, np.ndarray]:
    """(n, n) log odds of the row's player, as Black in a game and without a colour in a virtual draw."""
    ratings = np.zeros(n)
    ratings[free] = values[: len(free)]
    plain = ratings[:, None] - ratings[None, :]
    return plain + (values[-1] if colour else 0.0), plain


def _likelihood(values, points, games, prior, free, colour) -> float:
    odds, plain = _odds(values, len(games), free, colour)
    real = points * odds - games * np.logaddexp(0, odds)
    virtual = prior / 2 * np.logaddexp(0, plain)  # half a point each: a virtual draw stands at [i, j] and at [j, i]
    return float(real.sum() - virtual.sum())


def _derivatives(values, points, games, prior, free, colour) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of the log likelihood, and its negative second derivative, by free ratings and then Black's
    advantage."""
    n = len(games)
    odds, plain = _odds(values, n, free, colour)
    shares, drawn = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-plain))
    surprise = points - games * shares
    weight = games * shares * (1 - shares)
    pull = prior / 2 * -drawn
    gradient = (surprise + pull).sum(axis=1) - (surprise + pull).sum(axis=0)
    both = weight + prior / 2 * drawn * (1 - drawn)
    both = both + both.T
    curvature = np.diag(both.sum(axis=1)) - both
    if not colour:
        return gradient[free], curvature[np.ix_(free, free)]
    cross = weight.sum(axis=1) - weight.sum(axis=0)
    whole = np.zeros((len(free) + 1, len(free) + 1))
    whole[:-1, :-1] = curvature[np.ix_(free, free)]
    whole[:-1, -1] = whole[-1, :-1] = cross[free]
    whole[-1, -1] = weight.sum()
    return np.append(gradient[free], surprise.sum()), whole


def wilson(points: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval of the share points / games. Raises ValueError without games."""
    if games <= 0 or not 0 <= points <= games:
        raise ValueError(f"{points} points of {games} games")
    share, squared = points / games, NORMAL_95**2
    middle = (share + squared / (2 * games)) / (1 + squared / games)
    half = NORMAL_95 / (1 + squared / games) * math.sqrt(share * (1 - share) / games + squared / (4 * games**2))
    return max(0.0, middle - half), min(1.0, middle + half)
