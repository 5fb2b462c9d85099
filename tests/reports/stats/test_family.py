"""p values adjusted over a family: against scipy's multivariate distributions and brute-force simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reports.stats.family import Test as Member
from reports.stats.family import adjust, chance_of_any, nominal_level, step_down
from tests.reports.stats.checks import made_effect

HALF = math.sqrt(0.5)
"""Loading of arms with as many seeds as their control: their differences are correlated by 1/2."""
MANY = 1e6
"""Degrees of freedom with which t is normal."""


def beside_one_control(*p_values: float, df: float = 9.0, loading: float = HALF) -> list[Member]:
    return [Member(p, df, "control", loading) for p in p_values]


@pytest.mark.parametrize("loading", [0.3, HALF, 0.9])
@pytest.mark.parametrize("toggles", [2, 5])
def test_with_many_degrees_of_freedom_it_is_the_box_of_a_multivariate_normal(toggles, loading):
    shape = np.full((toggles, toggles), loading**2) + np.eye(toggles) * (1 - loading**2)
    for p in (0.002, 0.05, 0.4):
        edge = np.full(toggles, stats.norm.isf(p / 2))
        inside = stats.multivariate_normal(cov=shape, seed=1).cdf(edge, lower_limit=-edge)
        tests = beside_one_control(*[p] * toggles, df=MANY, loading=loading)
        assert chance_of_any(p, tests) == pytest.approx(1 - inside, abs=2e-4)


def test_with_many_degrees_of_freedom_the_first_step_is_dunnetts_test():
    generator = np.random.default_rng(3)
    control, *arms = generator.normal(size=(4, 400))
    dunnett = stats.dunnett(*arms, control=control, random_state=1)
    df = 4 * 399
    p_values = [float(2 * stats.t.sf(abs(statistic), df)) for statistic in dunnett.statistic]
    smallest = int(np.argmin(p_values))
    found = step_down(beside_one_control(*p_values, df=df))
    assert found[smallest] == pytest.approx(dunnett.pvalue[smallest], abs=1e-3)


@pytest.mark.parametrize("df", [3.0, 5.0, 12.5])
def test_with_few_it_is_what_brute_force_finds(df):
    """Numerators share a control, each has a denominator of its own."""
    generator, draws = np.random.default_rng(4), 400_000
    numerators = HALF * generator.standard_normal((draws, 1)) + HALF * generator.standard_normal((draws, 4))
    t = np.abs(numerators) / np.sqrt(generator.chisquare(df, (draws, 4)) / df)
    for p in (0.005, 0.05):
        any_of_them = (t > stats.t.isf(p / 2, df)).any(axis=1).mean()
        error = math.sqrt(any_of_them / draws)
        assert chance_of_any(p, beside_one_control(*[p] * 4, df=df)) == pytest.approx(any_of_them, abs=4 * error)


def test_a_noisier_denominator_of_all_is_covered_by_denominators_of_ones_own():
    """Dunnett's own test, with one denominator for all, has a smaller chance of any: ours errs to the safe side."""
    shape = np.full((5, 5), 0.5) + np.eye(5) * 0.5
    for df in (4, 9, 15):
        edge = np.full(5, stats.t.isf(0.01 / 2, df))
        common = 1 - stats.multivariate_t(shape=shape, df=df, seed=1).cdf(edge, lower_limit=-edge, random_state=1)
        assert chance_of_any(0.01, beside_one_control(*[0.01] * 5, df=df)) > common - 2e-4


def test_effects_that_share_nothing_come_out_as_holm_in_sidaks_form():
    found = step_down([Member(0.01, 5), Member(0.04, 8), Member(0.03, 3)])
    assert found == pytest.approx([1 - 0.99**3, max(1 - 0.97**2, 0.04), 1 - 0.97**2])


def test_groups_of_different_controls_multiply():
    one, other = beside_one_control(0.03, 0.03), [Member(0.03, 7, "other", HALF)] * 3
    both = 1 - (1 - chance_of_any(0.03, one)) * (1 - chance_of_any(0.03, other))
    assert chance_of_any(0.03, [*one, *other]) == pytest.approx(both)


MEMBERS = st.builds(
    Member,
    st.floats(0, 1),
    st.sampled_from([2.0, 5.5, 30.0]),
    st.sampled_from([None, "control", "other"]),
    st.sampled_from([0.5, HALF]),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(MEMBERS, min_size=1, max_size=6), st.randoms())
def test_adjusted_lies_between_p_and_bonferroni_in_any_order(tests, random):
    adjusted = step_down(tests)
    for test, found in zip(tests, adjusted, strict=True):
        assert test.p - 1e-9 <= found <= min(1.0, len(tests) * test.p) + 1e-9
    order = sorted(range(len(tests)), key=lambda index: tests[index].p)
    assert all(adjusted[a] <= adjusted[b] for a, b in zip(order, order[1:], strict=False))
    random.shuffle(order)
    assert step_down([tests[index] for index in order]) == pytest.approx([adjusted[index] for index in order])


@settings(max_examples=20, deadline=None)
@given(st.lists(MEMBERS, min_size=1, max_size=5), MEMBERS)
def test_one_more_effect_in_the_family_never_lowers_a_p(tests, another):
    more = step_down([*tests, another])[:-1]
    assert all(wider >= found - 1e-9 for wider, found in zip(more, step_down(tests), strict=True))


def test_nominal_level_is_the_p_that_is_adjusted_to_alpha():
    tests = beside_one_control(*[1.0] * 8)
    level = nominal_level(0.05, tests)
    assert 0.05 / 8 < level < 0.05 and chance_of_any(level, tests) == pytest.approx(0.05, abs=1e-6)
    assert nominal_level(0.05, tests[:1]) == 0.05


def test_what_effects_share_is_read_from_their_weights():
    """Two on one control hang together, the third on another control does not; one without a p is left out."""

    def effect(treatment: str, control: str, p: float | None):
        return replace(made_effect(p=p), name=treatment, weights={treatment: 1.0, control: -1.0})

    family = {"a": effect("a", "c", 0.03), "b": effect("b", "c", 0.03), "x": effect("x", "d", 0.03)}
    found = adjust({**family, "none": effect("none", "c", None)})
    hub = [Member(0.03, 9.0, "c", HALF), Member(0.03, 9.0, "c", HALF), Member(0.03, 9.0)]
    assert found == pytest.approx(dict(zip("abx", step_down(hub), strict=True)))
    assert found["a"] < step_down([Member(0.03, 9.0)] * 3)[0]  # what is shared is not paid for twice
    assert adjust({}) == {}


def test_more_seeds_of_the_control_leave_less_in_common():
    few, many = (replace(made_effect(p=0.02), control_seeds=seeds) for seeds in (4, 12))
    adjusted = [
        adjust({name: replace(each, weights={name: 1.0, "c": -1.0}) for name in "ab"})["a"] for each in (few, many)
    ]
    assert adjusted[0] < adjusted[1] <= 1 - 0.98**2 + 1e-9
