"""Planning: what n seeds can show."""

import math

import pytest

from reports.stats.power import smallest_effect
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import Thresholds
from tests.reports.stats.checks import seeds_needed

THRESHOLDS = Thresholds()


def pool(sd: float, df: float = 1.0) -> SeedPool:
    return SeedPool(sd**2, df, ("t",), {})


@pytest.mark.parametrize(
    ("sd", "effect", "seeds"),
    [(0.008, 0.01, 8), (0.008, 0.02, 4), (0.011, 0.01, 12), (0.011, 0.02, 5), (0.014, 0.01, 18), (0.014, 0.02, 7)],
)
def test_seeds_needed_as_measured_by_the_feasibility_study(sd, effect, seeds):
    """spec: feasibility 3, second figure of each cell: 80 % power of the paired t test."""
    found = seeds_needed(effect, pool(sd), 0.0, THRESHOLDS)
    assert found == pytest.approx(seeds, abs=1)
    assert smallest_effect(pool(sd), 0.0, found, THRESHOLDS) <= effect


def test_without_a_pool_nothing_is_promised():
    assert smallest_effect(None, 0.0, 4, THRESHOLDS) is None and seeds_needed(0.01, None, 0.0, THRESHOLDS) is None


def test_seeds_do_not_buy_what_only_games_can():
    assert seeds_needed(0.004, pool(0.01), 0.002**2, THRESHOLDS) == math.inf
    assert math.isfinite(seeds_needed(0.004, pool(0.01), 0.001**2, THRESHOLDS))


def test_more_seeds_games_and_pool_show_less():
    def shows(seeds=4, evaluation=0.002**2, df=1.0, toggles=1):
        return smallest_effect(pool(0.011, df), evaluation, seeds, THRESHOLDS, toggles)

    assert shows(seeds=8) < shows() and shows(evaluation=0.001**2) < shows() and shows(df=20) < shows()
    assert shows(df=20, toggles=3) > shows(df=20)  # Holm's price


def test_one_seed_cannot_be_planned():
    with pytest.raises(ValueError, match="at least 2"):
        smallest_effect(pool(0.01), 0.0, 1, THRESHOLDS)
