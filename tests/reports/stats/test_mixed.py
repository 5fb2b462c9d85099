"""The mixed model against explicit formulas, an analysis of variance in closed form and the likelihood itself."""

import itertools

import numpy as np
import pytest
from scipy import linalg, optimize

from reports.stats.mixed import Coding, DesignMatrix, Fit
from reports.stats.model import Model


def factorial(
    levels: int, seeds: int, generator: np.random.Generator, noise: float = 1.0
) -> tuple[DesignMatrix, np.ndarray]:
    """All combinations of some levels, each with the same seeds, and noise."""
    arms = list(itertools.product((0.0, 1.0), repeat=levels))
    changes = np.array([arm for arm in arms for _ in range(seeds)])
    design = DesignMatrix(changes, [f"s{i}" for i in range(levels)], [seed for _ in arms for seed in range(seeds)])
    return design, noise * generator.standard_normal(len(changes))


def covariance(fit: Fit) -> np.ndarray:
    """Of the runs, with the variances that the fit found."""
    _, products = fit.design.pairs(fit.coding)
    parts = [np.eye(len(products)), products @ products.T, fit.design.of_seeds @ fit.design.of_seeds.T]
    parts += [np.diag(fit.design.groups[:, group]) for group in fit.noisier]
    return sum(size * part for size, part in zip(fit.variances, parts, strict=True))


def made(generator: np.random.Generator) -> tuple[DesignMatrix, np.ndarray]:
    """Levels alone on four seeds and all combinations on two, some missing, with interactions and noise of seeds."""
    arms = [*np.vstack([np.zeros(4), np.eye(4)]).tolist() * 4, *itertools.product((0.0, 1.0), repeat=4)]
    seeds = [*np.repeat(range(4), 5).tolist(), *(number % 2 for number in range(16))]
    kept = generator.random(len(arms)) < 0.9
    changes, of_run = np.array(arms)[kept], np.array(seeds)[kept]
    values = generator.standard_normal(len(of_run)) + (changes[:, :1] * changes[:, 1:3]) @ [2.0, -3.0] + of_run
    return DesignMatrix(changes, "abcd", of_run.tolist()), values


@pytest.mark.parametrize("coding", ["mean", "base"])
@pytest.mark.parametrize("number", [1, 2])
def test_sums_by_configuration_and_seed_say_all_that_the_runs_do(coding: Coding, number):
    """Variances, effects, their variances and Satterthwaite's degrees of freedom from the matrices of all runs."""
    design, values = made(np.random.default_rng(number))
    fit = Fit(design, values, coding)
    assert fit.tells_pairs and not fit.noisier
    variances = fit.variances
    _, products = design.pairs(coding)
    columns, runs = design.fixed(coding), np.eye(len(values))
    parts = [runs, products @ products.T, design.of_seeds @ design.of_seeds.T]
    rest = linalg.null_space(columns.T)

    def total(sizes):
        return sum(size * part for size, part in zip(sizes, parts, strict=True))

    def deviance(logs):
        inside = rest.T @ total(np.exp(logs)) @ rest
        seen = rest.T @ values
        return np.linalg.slogdet(inside)[1] + seen @ np.linalg.solve(inside, seen)

    found = np.maximum(variances, 1e-7)
    slow = optimize.minimize(deviance, np.log(found), method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-9})
    assert np.exp(slow.x) == pytest.approx(found, rel=0.01, abs=1e-5)

    def spread(sizes):
        return linalg.inv(columns.T @ linalg.inv(total(sizes)) @ columns)

    seen = rest @ linalg.inv(rest.T @ total(variances) @ rest) @ rest.T
    information = np.array([[np.trace(seen @ a @ seen @ b) / 2 for b in parts] for a in parts])
    for level, contrast in enumerate(np.eye(4), 1):
        steps = 1e-5 * variances[0] * np.eye(3)
        ends = [(spread(variances + s)[level, level], spread(variances - s)[level, level]) for s in steps]
        slope = np.array([(more - less) / 2e-5 / variances[0] for more, less in ends])
        estimate, variance = fit.estimate(contrast), spread(variances)[level, level]
        slow_value = (spread(variances) @ columns.T @ linalg.inv(total(variances)) @ values)[level]
        assert (estimate.value, estimate.variance) == pytest.approx((slow_value, variance))
        assert estimate.df == pytest.approx(2 * variance**2 / (slope @ linalg.inv(information) @ slope), rel=1e-3)


@pytest.mark.parametrize("coding", ["mean", "base"])
def test_the_fixed_effect_of_a_pair_is_that_of_a_refit_with_its_column_among_the_levels(coding: Coding):
    design, values = made(np.random.default_rng(2))
    fit = Fit(design, values, coding)
    pairs, products = design.pairs(coding)
    found = {each.levels: each for each in fit.interactions()}
    assert found.keys() == set(pairs)
    for number, pair in enumerate(pairs):
        column = products[:, number]
        columns = np.column_stack([design.fixed(coding), column])
        inverse = linalg.inv(covariance(fit) - fit.variances[1] * np.outer(column, column))
        spread = linalg.inv(columns.T @ inverse @ columns)
        fixed = found[pair].fixed
        assert fixed.value == pytest.approx((spread @ columns.T @ inverse @ values)[-1])
        assert fixed.variance == pytest.approx(spread[-1, -1]) and fixed.df > 1


def test_the_variance_of_seeds_is_that_of_an_analysis_of_variance():
    """One level, balanced: (mean square of seeds - mean square of noise) / runs of a seed."""
    generator = np.random.default_rng(3)
    seeds, repeats = 6, 3
    changes = np.array([[x] for x in (0.0, 1.0) for _ in range(seeds * repeats)])
    of_run = [seed for _ in (0, 1) for seed in range(seeds) for _ in range(repeats)]
    values = generator.standard_normal(len(of_run)) + 2.0 * generator.standard_normal(seeds)[of_run]
    fit = Fit(DesignMatrix(changes, ["s"], of_run), values, "base")
    columns = np.column_stack([np.ones(len(of_run)), changes])
    rest = values - columns @ np.linalg.lstsq(columns, values)[0]
    means = np.array([rest[np.array(of_run) == seed].mean() for seed in range(seeds)])
    of_seeds = 2 * repeats * (means**2).sum() / (seeds - 1)
    of_noise = ((rest - means[of_run]) ** 2).sum() / (len(of_run) - 1 - seeds)
    assert fit.variances == pytest.approx([of_noise, 0.0, (of_seeds - of_noise) / (2 * repeats)], rel=1e-3)
    assert fit.estimate(np.array([1.0])).df == pytest.approx(len(of_run) - 1 - seeds, rel=1e-3)


def test_the_largest_interaction_is_predicted_short_of_its_size():
    design, noise = factorial(4, 3, np.random.default_rng(5), noise=0.1)
    values = noise + 1.0 * design.changes[:, 1] * design.changes[:, 3]
    first, second, *_ = Fit(design, values, "mean").interactions()
    assert first.levels == (1, 3) and 0.8 < first.value < 1.0
    assert first.se < 0.2 and abs(second.value) < 0.2


def test_what_always_changes_together_or_with_a_seed_is_not_separated():
    changes = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]], float)
    design = DesignMatrix(changes, ["a", "b", "c"], [1, 1, 2, 2, 1, 1])
    told = {name: design.separates(np.array(row)) for name, row in zip("abc", np.eye(3), strict=True)}
    assert told == {"a": False, "b": False, "c": False}
    assert design.separates(np.array([1.0, 1.0, 0.0]))
    other = DesignMatrix(changes, ["a", "b", "c"], [1, 1, 1, 1, 2, 2])
    assert other.separates(np.array([0.0, 0.0, 1.0]))


def test_only_levels_that_a_run_has_both_of_have_an_interaction():
    changes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]], float)
    assert DesignMatrix(changes, ["a", "a", "b"], [1] * 5).pairs("base")[0] == [(0, 2)]


def test_a_level_whose_repeated_runs_are_noisier_has_a_variance_of_its_own():
    generator = np.random.default_rng(6)
    design, noise = factorial(4, 4, generator)
    assert design.is_repeated and Fit(design, noise, "mean").noisier == []
    noisy = noise * np.where(design.changes[:, 2] == 1, 4.0, 1.0)
    fit = Fit(design, noisy, "mean")
    assert fit.noisier == [2] and 2.5 < (1 + fit.variances[3] / fit.variances[0]) ** 0.5 < 6
    once = DesignMatrix(design.changes[::4], design.settings, design.seeds[::4])
    assert not once.is_repeated and Fit(once, noisy[::4], "mean").noisier == []


def test_repeated_runs_that_combine_levels_may_be_noisier_and_single_ones_are_fitted_by_themselves():
    generator, words = np.random.default_rng(9), (1, 2, 4, 7, 8, 11, 13, 0)
    screen = np.array([[float((arm & word).bit_count() % 2) for word in words] for arm in range(16)])
    alone = np.repeat(np.vstack([np.zeros(8), np.eye(8)]), 3, 0)
    rows = np.concatenate([screen, screen, alone])
    noise = generator.standard_normal(len(rows)) * np.where(rows.sum(1) > 1, 5.0, 1.0)
    fit = Fit(DesignMatrix(rows, "abcdefgh", [1] * len(rows)), noise, "mean")
    assert fit.noisier == [8] and 3.5 < (1 + fit.variances[3] / fit.variances[0]) ** 0.5 < 8

    def model(kept: np.ndarray) -> Model:
        sums = np.stack([noise, noise], 1)[kept]
        return Model(DesignMatrix(rows[kept], "abcdefgh", [1] * len(sums)), sums, np.ones(2))

    several = np.flatnonzero(screen.sum(1) > 1)
    with_alone, by_itself = model(np.r_[several, 32 : len(rows)]), model(several)
    assert all(with_alone.effect("", unit) == by_itself.effect("", unit) for unit in np.eye(8)[:7])


def test_a_screen_whose_single_runs_are_noisier_than_those_of_another_has_a_variance_of_its_own():
    generator, words = np.random.default_rng(4), (1, 2, 4, 7, 8, 11, 13, 14)
    screen = np.array([[float((arm & word).bit_count() % 2) for word in words] for arm in range(1, 16)] * 2)
    alone = np.repeat(np.vstack([np.zeros(16), np.eye(16)]), 3, 0)
    rows = np.vstack([np.hstack([screen, 0 * screen]), np.hstack([0 * screen, screen]), alone])
    seeds = np.r_[np.arange(60) % 30 // 15, np.tile([0, 1, 2], 17)]
    design, noise = DesignMatrix(rows, "abcdefghijklmnop", seeds.tolist()), generator.standard_normal(len(rows))
    assert Fit(design, noise, "mean").noisier == []
    fit = Fit(design, noise * np.where(design.groups[:, 17] > 0, 4.0, 1.0), "mean")
    assert fit.noisier == [17] and 2.5 < (1 + fit.variances[3] / fit.variances[0]) ** 0.5 < 6
    assert design.name(17) == "two changes or more of i and 7 more"
    assert design.only(np.arange(30)).screens == []


def test_too_few_runs_are_refused():
    with pytest.raises(ValueError, match="2 runs more than levels"):
        Fit(DesignMatrix(np.array([[0.0], [1.0], [0.0], [1.0]]), ["a"], [1, 2, 1, 2]), np.arange(4.0), "base")


def test_pairs_that_nothing_tells_from_the_noise_stay_in_it():
    """A fraction of single runs, its strings of pairs in all that the levels leave over."""
    rows = [[float((arm & word).bit_count() % 2) for word in (1, 2, 4, 7, 8, 11, 13)] for arm in range(16)]
    values = np.random.default_rng(7).standard_normal(16)
    once = Fit(DesignMatrix(np.array(rows), "abcdefg", [1] * 16), values, "mean")
    columns = once.design.fixed("mean")
    rest = values - columns @ np.linalg.lstsq(columns, values)[0]
    assert not once.tells_pairs and once.variances == pytest.approx([rest @ rest / 8, 0.0, 0.0])
    assert once.estimate(np.eye(7)[0]).df == pytest.approx(8)
    twice = DesignMatrix(np.array(rows * 2), "abcdefg", [1] * 16 + [2] * 16)
    assert Fit(twice, np.random.default_rng(8).standard_normal(32), "mean").tells_pairs
