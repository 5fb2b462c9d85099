"""Levels of looks against the literature and against simulated studies."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm, t

from reports.stats.looks import LEAST, exits, planned_level, repeated_p, spent
from reports.stats.model import RunNoise
from reports.stats.power import course
from reports.stats.verdicts import Thresholds


def test_levels_are_those_of_pocock():
    # Pocock 1977, table 1: nominal levels of 2 to 5 equal looks at 5 %.
    for looks, level in ((2, 0.0294), (3, 0.0221), (4, 0.0182), (5, 0.0158)):
        seeds = tuple(range(4, 4 * looks + 1, 4))
        assert planned_level(seeds, 0.05) == pytest.approx(level, abs=1.5e-4)
        assert repeated_p(seeds, [0.9, planned_level(seeds, 0.05)]) == pytest.approx(0.05, rel=1e-4)


def test_chances_are_those_of_the_joint_normal_distribution():
    seeds, bounds = (3, 6, 8), (2.1, 2.0, 1.9)
    correlation = [[np.sqrt(min(a, b) / max(a, b)) for b in seeds] for a in seeds]
    for looks in (1, 2, 3):
        joint = multivariate_normal([0] * looks, np.array(correlation)[:looks, :looks])
        inside = joint.cdf(bounds[:looks], lower_limit=[-bound for bound in bounds[:looks]])
        assert sum(exits(seeds, bounds).shown[:looks]) == pytest.approx(1 - inside, abs=2e-5)


def test_chances_with_effects_and_futility_are_those_of_simulated_studies():
    seeds, bound, means, futile = np.array([4, 8, 12, 14]), 2.36, np.array([0.5, 0.7, 0.9, 1.0]), (0.0, 0.3, 0.5, 0.8)
    walks = np.random.default_rng(1).normal(size=(100_000, 14)).cumsum(1)[:, seeds - 1] / np.sqrt(seeds) + means
    on, ends = np.ones(len(walks), bool), np.full(len(walks), seeds[-1])
    found = exits(seeds, [bound] * 4, means, futile)
    for look in range(4):
        shown, stopped = on & (abs(walks[:, look]) > bound), on & (abs(walks[:, look]) < futile[look])
        assert shown.mean() == pytest.approx(found.shown[look], abs=0.003)
        assert stopped.mean() == pytest.approx(found.futile[look], abs=0.005)
        ends[shown | stopped] = seeds[look]
        on &= ~shown & ~stopped
    assert ends.mean() == pytest.approx(found.mean(seeds), abs=0.05)


def test_all_looks_together_have_a_small_p_as_seldom_as_one_test():
    generator, seeds, reps = np.random.default_rng(2), (4, 8, 12, 16), 1000
    z = generator.normal(size=(reps, 4)).cumsum(1) / np.sqrt(np.arange(1, 5))
    repeated = np.array([repeated_p(seeds, list(found)) for found in 2 * norm.sf(abs(z))])
    for level in (0.01, 0.05, 0.3):
        assert (repeated <= level).mean() == pytest.approx(level, abs=4 * (level / reps) ** 0.5)


def test_the_p_of_several_looks_never_rises_and_is_that_of_the_least():
    seeds, found = (4, 8, 12), [0.2, 0.01, 0.5]
    course_of_p = [repeated_p(seeds, found[:look]) for look in (1, 2, 3)]
    assert course_of_p[0] > course_of_p[1] == course_of_p[2] == pytest.approx(spent(seeds, 0.01))
    assert repeated_p((4,), [0.03]) == pytest.approx(0.03) and repeated_p(seeds, [1.0]) == 1.0
    assert repeated_p(seeds, [LEAST / 10]) == pytest.approx(3 * LEAST / 10)


def test_information_must_rise():
    with pytest.raises(ValueError, match="rise"):
        exits((4, 4), (2.0, 2.0))


@pytest.mark.parametrize("effect, futility", [(0.0, None), (0.02, None), (0.2, None), (0.0, 0.02), (0.02, 0.02)])
def test_the_expected_course_is_that_of_simulated_studies_with_moderated_variances(effect, futility):
    generator, seeds, reps, variance, pool_df = np.random.default_rng(4), (4, 8, 12, 16), 8000, 0.0178**2, 9.0
    noise, level = RunNoise((variance / 2) ** 0.5, pool_df), planned_level(seeds, 0.05)
    expected = course(seeds, effect, noise, 0.0, Thresholds(), futility)
    runs = effect + np.sqrt(variance) * generator.normal(size=(reps, 16))
    pooled = variance * generator.chisquare(pool_df, reps) / pool_df
    on, ends, shown = np.ones(reps, bool), np.full(reps, 16), 0
    for count in seeds:
        mean, df = runs[:, :count].mean(1), count + 1.0
        error = np.sqrt((2 * pooled + (count - 1) * runs[:, :count].var(1, ddof=1)) / df / count)
        now = on & (2 * t.sf(abs(mean) / error, df) < level)
        small = on & ~now & (abs(mean) + t.ppf(0.95, df) * error < (futility or 0.0))
        shown += now.sum()
        ends[now | small] = count
        on &= ~now & ~small
    assert expected.mean(seeds) == pytest.approx(ends.mean(), abs=0.4)
    assert sum(expected.shown) == pytest.approx(shown / reps, abs=0.025)
