"""Planning: what n seeds can show."""

import itertools

import pytest
from scipy import stats

from reports.stats.model import RunNoise, page_level, smallest_effect, smallest_shown
from reports.stats.verdicts import Thresholds, discovery_rates

THRESHOLDS = Thresholds()


def smallest(sd: float, seeds: int, df: float = 1.0, evaluation: float = 0.0) -> float:
    """sd: of a difference of two runs."""
    return smallest_effect(RunNoise(sd / 2**0.5, df), evaluation**2, seeds, THRESHOLDS)


@pytest.mark.parametrize(("sd", "effect", "seeds"), [(0.008, 0.01, 8), (0.011, 0.02, 5), (0.014, 0.01, 18)])
def test_seeds_needed_as_measured_by_the_feasibility_study(sd, effect, seeds):
    """80 % power of the paired t test."""
    assert next(n for n in itertools.count(2) if smallest(sd, n) <= effect) == pytest.approx(seeds, abs=1)


def test_the_smallest_effect_is_shown_with_the_power_asked_for():
    effect, critical = smallest_shown(0.006, 7.0, 0.05, THRESHOLDS), stats.t.isf(0.025, 7.0)
    assert stats.nct.sf(critical, 7.0, effect / 0.006) == pytest.approx(0.80, abs=1e-6)


def test_seeds_games_and_known_noise_each_shrink_their_part():
    assert smallest(0.01, 1000, evaluation=0.002) > 0.004 > smallest(0.01, 1000, evaluation=0.001)
    assert smallest(0.011, 8, evaluation=0.002) < smallest(0.011, 4, evaluation=0.002)
    assert smallest(0.011, 4, df=2.0) < smallest(0.011, 4) and smallest(0.011, 4, df=20) == smallest(0.011, 4, df=2.0)
    with pytest.raises(ValueError, match="at least 2"):
        smallest(0.01, 1)


def test_one_more_effect_at_the_level_of_a_page_is_shown():
    others = [0.001, 0.004, 0.3, 0.8, 0.9]
    q = discovery_rates([*others, 0.7])
    level = page_level(q, q[-1], 0.05)
    assert level == pytest.approx(0.05 * 3 / 6)
    assert page_level(q, q[0], 0.05) == pytest.approx(0.05 * 2 / 6), "one that is shown is among those shown"
    assert discovery_rates([*others, 0.999 * level])[-1] <= 0.05 < discovery_rates([*others, 1.001 * level])[-1]
