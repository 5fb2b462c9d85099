"""Variances between games, and t with two parts, against other formulas for the same thing."""

import math

import numpy as np
import pytest
from scipy import stats

from reports.stats.estimates import (
    ArmResult,
    EvaluationNoise,
    effect_of,
    evaluation_noise,
    mean_effect,
    spread,
    sums_by_game,
)
from tests.reports.stats.checks import bootstrap_over_games


def test_sums_by_game_keep_every_position():
    values = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
    sums, counts = sums_by_game(values, np.array([7, 3, 7, 3]))
    assert sums.tolist() == [[6.0, 4.0], [2.0, 0.0]] and counts.tolist() == [2, 2]  # games 3 and 7
    assert sums_by_game(values[0], np.array([7, 3, 7, 3]))[0].tolist() == [6.0, 4.0]


def test_closed_form_agrees_with_the_bootstrap_over_games():
    generator = np.random.default_rng(0)
    counts = generator.integers(20, 300, size=400)
    losses = (generator.normal(0, 0.1, 400) + 0.02) * counts
    hits = generator.binomial(counts, generator.beta(3, 5, 400)).astype(float)
    sums = np.stack([losses, hits])
    closed = [evaluation_noise(each[None], counts).total for each in sums]
    means = bootstrap_over_games(sums, counts, replicates=2000, seed=1)
    assert means.std(0, ddof=1) == pytest.approx(np.sqrt(closed), rel=0.06)  # 2,000 replicates: standard error 1.6 %
    by_game = generator.normal(size=100)  # positions of a game that agree fully: the games are the units
    noise = evaluation_noise(by_game[None] * 200, np.full(100, 200))
    assert noise.total == pytest.approx(by_game.var(ddof=1) / 100)


def test_evaluation_noise_separates_common_from_seed_specific():
    generator = np.random.default_rng(3)
    counts = np.full(5000, 100)
    common, specific = generator.normal(0, 0.3, size=5000), generator.normal(0, 0.6, size=(4, 5000))
    noise = evaluation_noise((common + specific) * counts, counts)
    assert noise.common == pytest.approx(0.09 / 5000, rel=0.2)
    assert noise.specific == pytest.approx(0.36 / 4 / 5000, rel=0.05)
    cancelled = evaluation_noise((specific - specific.mean(0)) * counts, counts)  # seeds that cancel exactly
    assert cancelled.common == 0.0 and cancelled.specific > 0


def test_spread_with_one_part_is_that_parts_t():
    quiet = evaluation_noise(np.full((4, 10), 3.0), np.full(10, 2.0))
    only_seeds = spread(4.0, 3.0, quiet)
    assert (only_seeds.se, only_seeds.df) == (2.0, pytest.approx(3.0))
    assert only_seeds.interval(0, 0.95).high == pytest.approx(2 * stats.t.ppf(0.975, 3))


def test_seeds_that_happen_to_agree_vary_as_much_as_their_luck_with_the_games():
    noise = EvaluationNoise(total=5.0, specific=4.0, games=50)
    agree, plain = (effect_of("t", 1.0, (variance, 2.0), noise, (3, 3)) for variance in (0.01, 9.0))
    assert agree.se == pytest.approx(5**0.5) and agree.df == pytest.approx(5 / (4 / 2 + 1 / 49))
    assert plain.se == pytest.approx(10**0.5) and effect_of("same", 0.0, (0.0, 2.0), noise, (3, 3)).se == 1.0


@pytest.mark.parametrize("sums", [np.ones((1, 3)), np.array([[1.0, np.nan], [1.0, 1.0]])])
def test_arm_results_are_checked(sums):
    with pytest.raises(ValueError, match="sums"):
        ArmResult((0, 1), sums, np.array([5, 5]))


def test_the_mean_of_an_arm_is_one_of_t_over_its_seeds_and_of_its_games():
    values = np.array([0.4, 0.5, 0.45, 0.47])
    alone = mean_effect("a", ArmResult((1, 2, 3, 4), np.outer(values, np.ones(2)), np.ones(2)), 0.3)
    theirs = stats.ttest_1samp(values, 0.3)
    assert (alone.delta, alone.p) == (pytest.approx(values.mean() - 0.3), pytest.approx(theirs.pvalue))
    ends = theirs.confidence_interval()
    assert (alone.interval95.low + 0.3, alone.interval95.high + 0.3) == pytest.approx((ends.low, ends.high))
    assert mean_effect("a", ArmResult((1,), [[0.4, 0.4]], [1, 1])).interval95 is None
    games = np.random.default_rng(0).normal(0.4, 0.1, 50)
    with_games = mean_effect("a", ArmResult((1, 2, 3, 4), games + values[:, None] - 0.4, np.ones(50)))
    assert with_games.se == pytest.approx(math.hypot(values.std(ddof=1) / 2, games.std(ddof=1) / math.sqrt(50)))


def test_the_interval_of_a_level_covers_the_truth_of_new_seeds_and_games():
    generator, covered = np.random.default_rng(3), 0
    for _ in range(400):
        nets, games = generator.normal(0.4, 0.01, (4, 1)), generator.normal(0, 0.08, 60)
        sums = nets + games + generator.normal(0, 0.05, (4, 60))
        interval = mean_effect("a", ArmResult((1, 2, 3, 4), sums, np.ones(60))).interval95
        covered += interval.low <= 0.4 <= interval.high
    assert 0.92 <= covered / 400 <= 0.99
