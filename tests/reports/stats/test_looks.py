"""Levels of looks against the literature and against other formulas."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from reports.stats.looks import LEAST, exits, planned_level, repeated_p, spent


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
        assert sum(exits(seeds, bounds)[:looks]) == pytest.approx(1 - inside, abs=2e-5)
    with pytest.raises(ValueError, match="rise"):
        exits((4, 4), (2.0, 2.0))


def test_all_looks_together_have_a_small_p_as_seldom_as_one_test():
    generator, seeds, reps = np.random.default_rng(2), (4, 8, 12, 16), 400
    z = generator.normal(size=(reps, 4)).cumsum(1) / np.sqrt(np.arange(1, 5))
    repeated = np.array([repeated_p(seeds, list(p)) for p in 2 * norm.sf(abs(z))])
    for level in (0.01, 0.05, 0.3):
        assert (repeated <= level).mean() == pytest.approx(level, abs=4 * (level / reps) ** 0.5)


def test_the_p_of_several_looks_never_rises_and_is_that_of_the_least():
    seeds, p = (4, 8, 12), [0.2, 0.01, 0.5]
    course = [repeated_p(seeds, p[:look]) for look in (1, 2, 3)]
    assert course[0] > course[1] == course[2] == pytest.approx(spent(seeds, 0.01))
    assert repeated_p((4,), [0.03]) == pytest.approx(0.03) and repeated_p(seeds, [1.0]) == 1.0
    assert repeated_p(seeds, [LEAST / 10]) == pytest.approx(3 * LEAST / 10)
