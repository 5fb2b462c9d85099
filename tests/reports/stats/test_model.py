"""Effects of the runs of a base: two configurations, several, and combinations of them, against explicit formulas."""

import itertools

import numpy as np
import pytest
from scipy import stats

from reports.stats.estimates import evaluation_noise
from reports.stats.mixed import DesignMatrix
from reports.stats.model import SHARED, Model

COUNTS = np.full(50, 200.0)


def model(arms: dict[tuple[float, ...], dict[int, float]], settings: str | None = None) -> Model:
    """Of arms (their levels) with the metric by seed, the same in every game."""
    rows = [(levels, seed, value) for levels, values in arms.items() for seed, value in values.items()]
    changes, seeds, values = (list(each) for each in zip(*rows, strict=True))
    design = DesignMatrix(np.array(changes, float), settings or "abcdefgh"[: len(changes[0])], seeds)
    return Model(design, np.outer(values, COUNTS), COUNTS)


def by_seed(*values: float, first: int = 1) -> dict[int, float]:
    return dict(enumerate(values, first))


def alone(*arms: list[float]) -> Model:
    """The base and one level each, with the same seeds."""
    levels = np.vstack([np.zeros(len(arms) - 1), np.eye(len(arms) - 1)])
    return model({tuple(row): by_seed(*values) for row, values in zip(levels, arms, strict=True)})


def factorial(levels: int, seeds: int, noise: float = 1.0, number: int = 1, interaction: float = 0.0) -> Model:
    """All combinations, of which the first two interact."""
    generator = np.random.default_rng(number)
    return model(
        {
            arm: {s: interaction * arm[0] * arm[1] + noise * generator.standard_normal() for s in range(seeds)}
            for arm in itertools.product((0.0, 1.0), repeat=levels)
        }
    )


UNIT = np.array([1.0])
CONTROL, RELU = [2.5233, 2.5307, 2.5345, 2.5360], [2.5124, 2.5211, 2.5200, 2.5394]
"""Spec: feasibility 3."""


# Every configuration has a level of its own


def test_two_configurations_with_the_same_seeds_are_the_paired_t_test():
    effect, theirs = alone(CONTROL, RELU).effect("relu", UNIT), stats.ttest_rel(RELU, CONTROL)
    ends = theirs.confidence_interval()
    assert effect.delta == pytest.approx(-0.0079, abs=5e-5) and effect.p == pytest.approx(theirs.pvalue)
    assert (effect.interval95.low, effect.interval95.high) == pytest.approx((ends.low, ends.high))
    assert effect.runs == (4, 4) and effect.n == 4 and effect.df == pytest.approx(3) and not effect.is_mean


def test_two_configurations_with_other_seeds_are_welchs_test_with_the_fewer_degrees_of_freedom():
    control, treatment = [1.0, 1.2, 1.1, 1.3], [1.4, 1.3, 1.9]
    effect = model({(0,): by_seed(*control), (1,): by_seed(*treatment, first=5)}).effect("data", UNIT)
    theirs = stats.ttest_ind(treatment, control, equal_var=False)
    assert effect.runs == (3, 4) and effect.se == pytest.approx(effect.delta / theirs.statistic)
    assert effect.df == pytest.approx(2) and effect.df <= theirs.df and effect.p >= theirs.pvalue


def moderated(arms: list[list[float]], weight: float) -> tuple[float, float]:
    """(se, df) of the first of several differences, seed by seed."""
    differences = np.array(arms[1:]) - np.array(arms[0])
    n, own, *others = differences.shape[1], *differences.var(axis=1, ddof=1)
    variance = (weight * np.mean(others) + (n - 1) * own) / (weight + n - 1)
    return (variance / n) ** 0.5, weight + n - 1


@pytest.mark.parametrize(("levels", "weight"), [(4, 2.0), (3, 2.0), (2, 3 * SHARED)])
def test_variances_are_drawn_towards_those_of_the_others_with_a_weight_of_two_or_less(levels, weight):
    arms = np.random.default_rng(levels).normal(size=(1 + levels, 4)).tolist()
    effect = alone(*arms).effect("a", np.eye(levels)[0])
    assert (effect.se, effect.df) == pytest.approx(moderated(arms, weight), rel=1e-6)


def test_a_configuration_of_one_run_has_the_noise_of_the_others_and_without_others_none():
    arms = {(0, 0): by_seed(1.0, 1.2, 1.1), (1, 0): by_seed(1.4, 1.3, 1.9), (0, 1): by_seed(1.5)}
    single = model(arms).effect("b", np.array([0.0, 1.0]))
    assert single.n == 1 and single.df == pytest.approx(2 * SHARED) and single.interval95 is not None
    nothing = model({(0,): by_seed(1.0), (1,): by_seed(1.4)}).effect("a", UNIT)
    assert (nothing.delta, nothing.se, nothing.p, nothing.interval90) == (pytest.approx(0.4), None, None, None)


def test_configurations_that_compute_the_same_have_no_effect_and_no_part_in_the_noise_of_others():
    arms = [[2.5, 2.6, 2.4], [2.5, 2.6, 2.4], [2.6, 2.5, 2.9], [2.4, 2.8, 2.7]]
    found, without = alone(*arms), alone(arms[0], *arms[2:])
    same = found.effect("same", np.eye(3)[0])
    assert (same.delta, same.se, same.p) == (0.0, 0.0, 1.0)
    for level in (1, 2):
        one, other = found.effect("a", np.eye(3)[level]), without.effect("a", np.eye(2)[level - 1])
        assert one.se == pytest.approx(other.se) and one.df == pytest.approx(other.df)


def test_of_exclusive_levels_and_of_what_the_base_has_each_side_has_its_runs():
    arms = {(0, 0): by_seed(1.0, 1.1), (1, 0): by_seed(1.5, 1.4, 1.6), (0, 1): by_seed(1.9, 1.5, 1.8, 1.7)}
    found = model(arms, "ss")
    assert found.effect("a", np.array([1.0, 0.0])).runs == (3, 2)
    assert found.effect("a, not b", np.array([1.0, -1.0])).runs == (3, 4)
    assert found.effect("not b", np.array([0.0, -1.0])).runs == (2, 4)


# Runs combine levels


def test_a_mean_effect_is_the_difference_of_means_and_its_noise_that_of_all_runs():
    found = factorial(3, 4)
    level, values = found.design.changes[:, 1], found.values
    effect = found.effect("b", np.eye(3)[1])
    assert effect.is_mean and effect.delta == pytest.approx(values[level == 1].mean() - values[level == 0].mean())
    assert effect.se == pytest.approx((4 * found.noise.run**2 / len(values)) ** 0.5)
    assert effect.runs == (16, 16) and effect.n == 16
    turned = found.effect("not b", -np.eye(3)[1])
    assert (turned.delta, turned.se) == (pytest.approx(-effect.delta), pytest.approx(effect.se))
    assert found.sides(np.array([1.0, -1.0, 0.0])) == (16, 16)


def test_the_effect_at_the_base_leaves_out_the_interactions():
    found = factorial(3, 4, noise=0.01, interaction=2.0)
    mean, base = found.effect("a", np.eye(3)[0]), found.at_base("a", np.eye(3)[0])
    assert mean.delta == pytest.approx(1.0, abs=0.02) and base.delta == pytest.approx(0.0, abs=0.1)
    assert not base.is_mean and base.se > mean.se and found.noise.pairs > 0.5


def test_two_levels_tell_their_effects_at_the_base_by_the_arms_that_change_one():
    """One combination says too little of how large interactions are."""
    found = factorial(2, 4)
    plain = alone(*(found.values[4 * arm : 4 * arm + 4].tolist() for arm in (0, 2, 1)))
    base, theirs = found.at_base("a", np.eye(2)[0]), plain.effect("a", np.eye(2)[0])
    assert (base.delta, base.se, base.df) == pytest.approx((theirs.delta, theirs.se, theirs.df))


def test_what_no_run_combines_with_others_has_the_effect_that_it_has_alone():
    generator = np.random.default_rng(4)
    single = {tuple(row): by_seed(*generator.normal(size=4)) for row in [np.zeros(4), *np.eye(4)]}
    both = {(1.0, 1.0, 0.0, 0.0): by_seed(*generator.normal(9.0, size=4))}
    before, after = model(single), model(single | both)
    for level, unit in enumerate(np.eye(4)):
        effect = after.effect("t", unit)
        assert effect.is_mean == (level < 2) == (after.at_base("t", unit) is not None)
        if level >= 2:
            assert effect == before.effect("t", unit)


def test_a_screen_of_single_runs_has_no_effect_at_the_base_and_no_interaction():
    rows = [tuple(float((arm & word).bit_count() % 2) for word in (1, 2, 4, 7, 8, 11, 13, 14)) for arm in range(16)]
    generator = np.random.default_rng(5)
    found = model({row: by_seed(generator.normal()) for row in rows})
    effect, values = found.effect("a", np.eye(8)[0]), found.values
    columns = found.design.fixed("mean")
    rest = values - columns @ np.linalg.lstsq(columns, values)[0]
    assert effect.is_mean and effect.se == pytest.approx((4 * (rest @ rest) / 7 / 16) ** 0.5)
    assert effect.df == pytest.approx(7) and found.at_base("a", np.eye(8)[0]) is None
    assert found.interactions() == [] and found.noise.pairs is None


def test_cells_and_the_fixed_effect_of_a_pair_are_those_of_the_four_means():
    found = factorial(2, 4, noise=1e-3, interaction=2.0)
    means = found.values.reshape(2, 2, 4).mean(2)
    (pair,) = found.interactions()
    effect, cells = found.pair_effect("a x b", pair), found.cells(pair)
    assert effect.delta == pytest.approx(means[1, 1] - means[1, 0] - means[0, 1] + means[0, 0])
    assert effect.runs == (4, 4) and pair.value == pytest.approx(effect.delta, rel=1e-3)
    assert [cells[one, other] for one in (False, True) for other in (False, True)] == pytest.approx(
        means.ravel().tolist(), abs=1e-3
    )
    turned = found.cells(pair, (-1, 1))
    assert turned[True, False] == pytest.approx(means[0, 0], abs=1e-3)


# Test games


def test_the_variance_between_games_of_two_configurations_is_that_of_their_pairs():
    generator = np.random.default_rng(6)
    counts = generator.integers(60, 321, 40).astype(float)
    sums = (
        generator.normal(2.5, 0.3, (8, 40)) + generator.normal(0, 0.4, (2, 1, 40)).repeat(4, 1).reshape(8, 40)
    ) * counts
    design = DesignMatrix(np.repeat([[0.0], [1.0]], 4, axis=0), "a", [1, 2, 3, 4] * 2)
    effect = Model(design, sums, counts).effect("a", UNIT)
    theirs = evaluation_noise(sums[4:] - sums[:4], counts)
    assert theirs.common > 0 and effect.se_eval**2 == pytest.approx(theirs.common)
    assert effect.delta == pytest.approx((sums[4:] - sums[:4]).sum(1).mean() / counts.sum())


def test_games_that_favour_a_level_in_every_run_add_to_the_noise_of_its_mean_effect():
    generator = np.random.default_rng(7)
    quiet = factorial(3, 4)
    favour = 0.2 * generator.standard_normal(50)
    sums = quiet.values[:, None] * COUNTS + quiet.design.changes[:, :1] * (favour - favour.mean()) * COUNTS
    effects = [Model(quiet.design, sums, COUNTS).effect("t", unit) for unit in np.eye(3)]
    assert effects[0].se_eval == pytest.approx(favour.std(ddof=1) / 50**0.5)
    assert [each.se_eval for each in effects[1:]] == pytest.approx([0.0, 0.0], abs=1e-9)
