"""Seed noise: what is pooled, on how many degrees of freedom, and how far a toggle's own is drawn towards it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.stats.clusters import ArmResult
from reports.stats.seed_noise import Differences, moderated, pair_correlation, pool_seed_noise, pooled_df
from reports.stats.verdicts import Thresholds
from tests.reports.stats.checks import analyse


def pair(name: str, by_seed: dict[int, float]) -> Differences:
    return Differences(by_seed, {name: 1.0, "control": -1.0})


def pool(**deltas: list[float]):
    return pool_seed_noise({name: pair(name, dict(enumerate(by_seed))) for name, by_seed in deltas.items()})


# The pool


def test_one_toggle_pools_to_its_own_variance():
    only = pool(a=[0.01, 0.02, 0.06])
    assert only.variance == pytest.approx(np.var([0.01, 0.02, 0.06], ddof=1)) and only.df == pytest.approx(2)


@pytest.mark.parametrize(("toggles", "seeds", "want"), [(1, 4, 3.0), (2, 4, 4.8), (5, 4, 7.5), (2, 8, 11.2)])
def test_pooled_df_pays_for_the_shared_control(toggles, seeds, want):
    assert pooled_df(
        [pair(str(toggle), dict.fromkeys(range(seeds), 0.0)) for toggle in range(toggles)]
    ) == pytest.approx(want)


def test_toggles_without_a_seed_in_common_pool_in_full():
    assert pooled_df(
        [pair("a", dict.fromkeys(range(4), 0.0)), pair("b", dict.fromkeys(range(4, 7), 0.0))]
    ) == pytest.approx(5)


def test_pooled_df_matches_the_spread_of_pooled_variances():
    generator = np.random.default_rng(5)
    arms = generator.normal(size=(20_000, 6, 4))
    pooled = (arms[:, 1:] - arms[:, :1]).var(axis=2, ddof=1).mean(1)
    measured = 2 * pooled.mean() ** 2 / pooled.var()
    assert measured == pytest.approx(7.5, rel=0.05)


def test_a_noisy_toggle_is_in_the_pool_as_any():
    found = pool(a=[0.01, 0.02, 0.00, 0.01], b=[0.00, 0.01, 0.02, 0.02], broken=[0.0, 2.0, -1.0, 0.5])
    assert found.members == ("a", "b", "broken") and found.own == {}


def test_identical_arms_do_not_thin_the_pool():
    found = pool(a=[0.01, 0.02, 0.00], same=[0.0, 0.0, 0.0])
    assert found.members == ("a",) and "same difference" in found.own["same"]
    assert pool(same=[0.0, 0.0, 0.0]) is None and pool(single=[0.1]) is None


def test_pair_correlation():
    control = np.array([1.0, 2.0, 3.0])
    assert pair_correlation([(control, control + 0.5)]) == pytest.approx(1)
    assert pair_correlation([(control, -control)]) == pytest.approx(-1)
    assert pair_correlation([(control, np.ones(3))]) is None and pair_correlation([(control[:1], control[:1])]) is None


# Moderated


def test_moderated_variance_is_the_mean_weighted_by_degrees_of_freedom():
    assert moderated(4.0, 3.0, 1.0, 9.0, weight=2.0) == pytest.approx(((2 * 1.0 + 3 * 4.0) / 5, 5.0))


def test_a_small_pool_has_the_weight_of_its_degrees_of_freedom():
    assert moderated(4.0, 3.0, 1.0, 0.5, weight=2.0) == pytest.approx(((0.5 * 1.0 + 3 * 4.0) / 3.5, 3.5))


def test_limits_no_pool_is_ones_own_and_no_own_is_the_pool():
    assert moderated(4.0, 3.0, 1.0, 0.0, weight=2.0) == (4.0, 3.0)
    assert moderated(None, 0.0, 1.0, 9.0, weight=2.0) == (1.0, 2.0)
    assert moderated(None, 0.0, 1.0, 0.0, weight=2.0) is None
    assert moderated(4.0, 3e9, 1.0, 9.0, weight=2.0)[0] == pytest.approx(4.0)


@given(st.floats(0, 10), st.integers(1, 30), st.floats(0, 10), st.floats(0, 100), st.floats(0, 10))
def test_moderated_lies_between_own_and_pool(own, own_df, pooled, pooled_df_, weight):
    variance, df = moderated(own, own_df, pooled, pooled_df_, weight)
    assert min(own, pooled) - 1e-9 <= variance <= max(own, pooled) + 1e-9
    assert own_df <= df <= own_df + min(weight, pooled_df_) + 1e-9


def table(**arms: list[float]) -> dict[str, ArmResult]:
    """Arms whose metric is given by seed, without evaluation noise."""
    counts = np.full(50, 200)
    return {name: ArmResult(range(len(by_seed)), np.outer(by_seed, counts), counts) for name, by_seed in arms.items()}


def test_a_toggle_alone_borrows_nothing_from_itself():
    effect = analyse(table(control=[2.5, 2.6, 2.4], t=[2.6, 2.6, 2.5]), "control", Thresholds(), "lower").effects["t"]
    assert not effect.pooled and effect.df == pytest.approx(2) and effect.interval95 == effect.own_interval95


def test_beside_others_it_borrows_two_degrees_of_freedom_from_the_pool():
    arms = table(
        control=[2.5, 2.6, 2.4, 2.55], t=[2.6, 2.6, 2.5, 2.5], u=[2.61, 2.7, 2.4, 2.5], v=[2.5, 2.55, 2.5, 2.6]
    )
    found = analyse(arms, "control", Thresholds(), "lower")
    own = float(np.var(found.effects["t"].deltas, ddof=1))
    want = (2 * found.pool.variance + 3 * own) / 5
    assert found.effects["t"].se_seed == pytest.approx(np.sqrt(want / 4)) and found.effects["t"].df == pytest.approx(5)
    less = analyse(arms, "control", Thresholds(noise_weight=1.0), "lower").effects["t"]
    assert less.se_seed == pytest.approx(np.sqrt((found.pool.variance + 3 * own) / 4 / 4))


def test_one_seed_has_the_pools_variance_alone():
    arms = table(control=[2.5, 2.6, 2.4, 2.55], t=[2.6, 2.6, 2.5, 2.5], u=[2.61, 2.7, 2.4, 2.5], one=[2.4])
    found = analyse(arms, "control", Thresholds(), "lower")
    assert found.effects["one"].se_seed == pytest.approx(np.sqrt(found.pool.variance))
    assert found.effects["one"].df == pytest.approx(2) and found.effects["one"].own_interval95 is None
