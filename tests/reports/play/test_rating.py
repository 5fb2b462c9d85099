"""Ratings: against choix, against a plain search for the best fit, in simulated tournaments; anchors, priors,
islands."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from reports.play.rating import ELO_OF_UNIT, NORMAL_95, rate
from tests.reports.play.shares import expected_share


def tournament(generator: np.random.Generator, elo, games: int, colour: float = 0.0):
    """Points and games of a round robin, `games` with each colour."""
    n = len(elo)
    played = np.full((n, n), games) * (1 - np.eye(n, dtype=int))
    odds = (np.subtract.outer(elo, elo) + colour) / ELO_OF_UNIT
    return generator.binomial(played, 1 / (1 + np.exp(-odds))).astype(float), played


def comparisons(points, games) -> list[tuple[int, int]]:
    """(winner, loser) of every game, as choix wants them."""
    n = len(games)
    pairs = [(i, j) for i in range(n) for j in range(n)]
    return [won for i, j in pairs for won in [(i, j)] * int(points[i, j]) + [(j, i)] * int(games[i, j] - points[i, j])]


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_choix_without_prior_and_colour(seed):
    points, games = tournament(np.random.default_rng(seed), [0, 120, 300, 310, 550], 30)
    theirs = choix.mm_pairwise(5, comparisons(points, games), alpha=0, tol=1e-13, max_iter=100_000)
    ours = rate(points, games, anchor=2, virtual=0)
    assert ours.elo == pytest.approx((theirs - theirs[2]) * ELO_OF_UNIT, abs=1e-6)


def test_best_fit_with_colour_and_prior_is_that_of_a_plain_search():
    points, games = tournament(np.random.default_rng(1), [0, 200, 350, 900], 6, colour=80)
    met = games + games.T
    virtual = 1.0 / 2 * met * (1 / met.sum(1)[:, None] + 1 / met.sum(1)[None, :])

    def lost(values):
        ratings, black = np.append(0.0, values[:3]), values[3]
        total = 0.0
        for i in range(4):
            for j in range(4):
                odds = ratings[i] - ratings[j]
                total -= points[i, j] * -np.logaddexp(0, -(odds + black)) + (
                    games[i, j] - points[i, j]
                ) * -np.logaddexp(0, odds + black)
                total += virtual[i, j] / 4 * (np.logaddexp(0, odds) + np.logaddexp(0, -odds))
        return total

    found = minimize(lost, np.zeros(4), tol=1e-12)
    ours = rate(points, games, colour=True)
    assert ours.elo[1:] == pytest.approx(found.x[:3] * ELO_OF_UNIT, abs=0.02) and ours.colour[0] == pytest.approx(
        found.x[3] * ELO_OF_UNIT, abs=0.02
    )
    steps = np.eye(4) * 1e-3
    second = [
        [
            (lost(found.x + a + b) - lost(found.x + a - b) - lost(found.x - a + b) + lost(found.x - a - b)) / 4e-6
            for a in steps
        ]
        for b in steps
    ]
    whole = np.linalg.inv(second) * ELO_OF_UNIT**2
    assert ours.covariance[1:, 1:] == pytest.approx(whole[:3, :3], rel=1e-3) and ours.colour[1] == pytest.approx(
        np.sqrt(whole[3, 3]), rel=1e-3
    )


@pytest.mark.parametrize("colour", [False, True])
def test_intervals_cover_the_truth_in_a_thousand_tournaments(colour):
    truth = np.array([0, 100, 260, 330, 640])
    generator = np.random.default_rng(20)
    covered = total = 0
    for _ in range(1000):
        points, games = tournament(generator, truth, 8, colour=60 if colour else 0)
        found = rate(points, games, colour=colour)
        for i in range(5):
            for j in range(i):
                difference, deviation = found.difference(i, j)
                covered += abs(difference - (truth[i] - truth[j])) <= NORMAL_95 * deviation
                total += 1
    assert 0.93 <= covered / total <= 0.97


def test_intervals_of_a_ladder_of_neighbours_cover_too():
    truth, generator, covered = np.array([0, 150, 420, 600]), np.random.default_rng(4), 0
    for _ in range(1000):
        points, games = tournament(generator, truth, 30)
        near = np.abs(np.subtract.outer(range(4), range(4))) == 1
        found = rate(points * near, games * near)
        covered += np.count_nonzero(np.abs(found.elo - truth)[1:] <= [found.half_width(player) for player in (1, 2, 3)])
    assert 0.93 <= covered / 3000 <= 0.97


def test_two_players_as_jeffreys_prior_has_it():
    found = rate([[0, 15], [0, 0]], [[0, 20], [0, 0]], anchor=1)
    share = 15.5 / 21
    assert found.elo[0] == pytest.approx(ELO_OF_UNIT * np.log(share / (1 - share))) and found.elo[1] == 0
    assert found.deviation(0) == pytest.approx(ELO_OF_UNIT / np.sqrt(21 * share * (1 - share)))
    assert found.half_width(1) == 0 and found.superiority(0, 1) == pytest.approx(1 - found.superiority(1, 0))


def test_who_won_all_games_is_rated_with_a_prior_and_refused_without():
    points, games = [[0, 40], [0, 0]], [[0, 40], [0, 0]]
    found = rate(points, games, anchor=1)
    assert 500 < found.elo[0] < 1000 and found.deviation(0) > 200 and 0.99 < found.superiority(0, 1) < 1
    with pytest.raises(ValueError, match="no bound"):
        rate(points, games, virtual=0)


def test_islands_have_anchors_of_their_own():
    points, games = np.zeros((5, 5)), np.zeros((5, 5))
    points[0, 3], games[0, 3], points[1, 2], games[1, 2] = 5, 10, 8, 10
    found = rate(points, games, anchor=3)
    assert found.component.tolist() == [0, 1, 1, 0, 2] and found.anchors == (3, 1, 4)
    assert found.elo[[3, 1, 4]].tolist() == [0, 0, 0]
    assert found.difference(0, 1) is None and found.superiority(0, 1) is None and found.difference(0, 3) is not None
    alone = rate(points[1:3, 1:3], games[1:3, 1:3])
    assert found.elo[2] == pytest.approx(alone.elo[1]) and found.covariance[2, 2] == pytest.approx(
        alone.covariance[1, 1]
    )


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 20))
@settings(max_examples=40)
def test_the_choice_of_the_anchor_changes_no_difference(seed, n, games):
    generator = np.random.default_rng(seed)
    points, played = tournament(generator, generator.normal(0, 200, n), games)
    one, other = rate(points, played, anchor=0), rate(points, played, anchor=n - 1)
    for i in range(n):
        for j in range(i):
            assert one.difference(i, j) == pytest.approx(other.difference(i, j), abs=1e-5)


def test_colour_is_found_and_said_to_be_open_without_both_colours():
    points, games = tournament(np.random.default_rng(3), [0, 50], 4000, colour=70)
    found = rate(points, games, colour=True)
    assert abs(found.colour[0] - 70) < 3 * found.colour[1] < 30
    with pytest.raises(ValueError, match="both colours"):
        rate([[0, 3], [0, 0]], [[0, 5], [0, 0]], virtual=0, colour=True)


@pytest.mark.parametrize(
    "points,games,anchor",
    [
        ([[0, 2], [0, 0]], [[0, 1], [0, 0]], 0),
        ([[1, 0], [0, 0]], [[1, 0], [0, 0]], 0),
        (np.zeros((2, 3)), np.zeros((2, 3)), 0),
        ([[0]], [[0]], 1),
    ],
)
def test_tables_that_are_none_are_refused(points, games, anchor):
    with pytest.raises(ValueError):
        rate(points, games, anchor)


def test_shares_and_elo():
    assert 1 / (1 + np.exp(-400 / ELO_OF_UNIT)) == pytest.approx(expected_share(400)) == pytest.approx(10 / 11)
