"""Ratings: against choix, against a plain search for the best fit, in simulated tournaments; anchors, islands."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from reports.play.rating import ELO_OF_UNIT, NORMAL_95, VIRTUAL_DRAWS, rate


def tournament(generator: np.random.Generator, elo, games: int, near: bool = False, black: float = 0.0):
    """Points with Black and games of a round robin, so many games of two players, half with each colour; near: of
    neighbours alone; black: Elo that Black is worth."""
    n = len(elo)
    taken, met = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and not (near and abs(i - j) > 1):
                met[i, j] = games // 2
                taken[i, j] = generator.binomial(games // 2, 1 / (1 + 10 ** ((elo[j] - elo[i] - black) / 400)))
    return taken, met


def test_equal_to_choix_where_the_prior_weighs_nothing_and_colours_tell_nothing():
    met = tournament(np.random.default_rng(1), [0, 120, 300, 310, 550], 40)[1]
    with_black = np.tril(np.random.default_rng(2).integers(1, 20, (5, 5)), -1)
    taken = with_black + np.triu(met - with_black.T, 1)  # as many with White
    won = [(i, j) for i in range(5) for j in range(5) if i != j for _ in range(int(2 * taken[i, j]))]
    theirs = choix.mm_pairwise(5, won, alpha=0, tol=1e-13, max_iter=100_000)
    found = rate(1e7 * taken, 1e7 * met, 2)
    assert found.elo == pytest.approx((theirs - theirs[2]) * ELO_OF_UNIT, abs=1e-3)
    assert found.black[0] == pytest.approx(0, abs=1e-6)


def test_best_fit_with_the_prior_is_that_of_a_plain_search():
    taken, met = tournament(np.random.default_rng(1), [0, 200, 350, 900], 12, black=80)
    met[0, 1], taken[0, 1] = 11, 4  # colours that are not balanced
    games = met + met.T
    played = games.sum(1)

    def lost(values):
        ratings, total = np.append(0.0, values[:3]), 0.0
        for i in range(4):
            for j in range(4):
                draws = VIRTUAL_DRAWS / 2 * games[i, j] * (1 / played[i] + 1 / played[j])
                ahead = ratings[i] - ratings[j] + values[3]
                total += (taken[i, j] + draws / 4) * np.logaddexp(0, -ahead)
                total += (met[i, j] - taken[i, j] + draws / 4) * np.logaddexp(0, ahead)
        return total

    fit = minimize(lost, np.zeros(4), tol=1e-12).x
    ours = rate(taken, met)
    assert [*ours.elo[1:], ours.black[0]] == pytest.approx(fit * ELO_OF_UNIT, abs=0.02)
    steps = np.eye(4) * 1e-3
    second = [
        [(lost(fit + a + b) - lost(fit + a - b) - lost(fit - a + b) + lost(fit - a - b)) / 4e-6 for a in steps]
        for b in steps
    ]
    inverse = np.linalg.inv(second) * ELO_OF_UNIT**2
    assert ours.covariance[1:, 1:] == pytest.approx(inverse[:3, :3], rel=1e-3)
    assert ours.black[1] == pytest.approx(NORMAL_95 * np.sqrt(inverse[3, 3]), rel=1e-3)


@pytest.mark.parametrize("truth, games, near", [([0, 100, 260, 330, 640], 16, False), ([0, 150, 420, 600], 30, True)])
def test_intervals_cover_the_truth_in_simulated_tournaments(truth, games, near):
    generator, covered = np.random.default_rng(20), []
    for _ in range(400):
        found = rate(*tournament(generator, truth, games, near, black=60))
        covered.append(abs(found.black[0] - 60) <= found.black[1])
        for i in range(len(truth)):
            for j in range(i):
                difference, deviation = found.difference(i, j)
                covered.append(abs(difference - (truth[i] - truth[j])) <= NORMAL_95 * deviation)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_two_players_as_jeffreys_prior_has_it():
    found, share = rate([[0, 7.5], [2.5, 0]], [[0, 10], [10, 0]], anchor=1), 15.5 / 21
    assert found.elo[0] == pytest.approx(ELO_OF_UNIT * np.log(share / (1 - share))) and found.elo[1] == 0
    assert found.half_width(0) == pytest.approx(NORMAL_95 * ELO_OF_UNIT / np.sqrt(21 * share * (1 - share)))
    assert found.half_width(1) == 0
    swept = rate([[0, 20], [0, 0]], [[0, 20], [20, 0]], anchor=1)
    assert 500 < swept.elo[0] < 1000 and swept.half_width(0) > 400


def test_islands_have_anchors_of_their_own():
    taken, met = np.zeros((5, 5)), np.zeros((5, 5))
    taken[0, 3], taken[3, 0], met[0, 3], met[3, 0] = 5, 5, 10, 10
    taken[1, 2], taken[2, 1], met[1, 2], met[2, 1] = 8, 2, 10, 10
    found = rate(taken, met, anchor=3)
    assert found.component.tolist() == [0, 1, 1, 0, 2] and found.anchors == (3, 1, 4)
    assert found.elo[[3, 1, 4]].tolist() == [0, 0, 0]
    assert found.difference(0, 1) is None and found.difference(0, 3) is not None
    alone = rate(taken[1:3, 1:3], met[1:3, 1:3])
    assert found.elo[2] == pytest.approx(alone.elo[1])
    assert found.covariance[2, 2] == pytest.approx(alone.covariance[1, 1])


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 20))
@settings(max_examples=15)
def test_the_choice_of_the_anchor_changes_no_difference(seed, n, games):
    generator = np.random.default_rng(seed)
    taken, met = tournament(generator, generator.normal(0, 200, n), games)
    one, other = rate(taken, met, anchor=0), rate(taken, met, anchor=n - 1)
    for i in range(n):
        for j in range(i):
            assert one.difference(i, j) == pytest.approx(other.difference(i, j), abs=1e-5)


@pytest.mark.parametrize("taken, met, anchor", [
    ([[0, 2], [0, 0]], [[0, 1], [1, 0]], 0),
    ([[1, 0], [0, 0]], [[1, 0], [0, 0]], 0),
    (np.zeros((2, 3)), np.zeros((2, 3)), 0),
    ([[0]], [[0]], 1),
])  # fmt: skip
def test_tables_that_are_none_are_refused(taken, met, anchor):
    with pytest.raises(ValueError):
        rate(taken, met, anchor)
