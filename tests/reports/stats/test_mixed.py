"""The mixed model against explicit formulas, an analysis of variance in closed form and the likelihood itself."""

import itertools

import numpy as np
import pytest
from scipy import linalg, stats

from reports.stats.mixed import Coding, Design, Fit


def factorial(levels: int, seeds: int, generator: np.random.Generator, noise: float = 1.0) -> tuple[Design, np.ndarray]:
    """All combinations of some levels, each with the same seeds, and noise."""
    arms = list(itertools.product((0.0, 1.0), repeat=levels))
    changes = np.array([arm for arm in arms for _ in range(seeds)])
    design = Design(changes, [f"s{i}" for i in range(levels)], [seed for _ in arms for seed in range(seeds)])
    return design, noise * generator.standard_normal(len(changes))


def covariance(fit: Fit) -> np.ndarray:
    """Of the runs, with the variances that the fit found."""
    _, products = fit.design.pairs(fit.coding)
    parts = [np.eye(len(products)), products @ products.T, fit.design.of_seeds @ fit.design.of_seeds.T]
    parts += [np.diag(fit.design.changes[:, level]) for level in fit.noisier]
    return sum(size * part for size, part in zip(fit.variances, parts, strict=True))


@pytest.mark.parametrize("coding", ["mean", "base"])
def test_effects_are_generalised_least_squares(coding: Coding):
    design, noise = factorial(3, 3, np.random.default_rng(1))
    values = noise + 4.0 * design.changes[:, 0] + 3.0 * design.changes[:, 0] * design.changes[:, 1]
    fit = Fit(design, values, coding)
    columns, inverse = design.fixed(coding), linalg.inv(covariance(fit))
    spread = linalg.inv(columns.T @ inverse @ columns)
    slow = spread @ columns.T @ inverse @ values
    for level, contrast in enumerate(np.eye(3)):
        found = fit.estimate(contrast)
        assert found.value == pytest.approx(slow[1 + level]) and found.weights @ values == pytest.approx(found.value)
        assert found.variance == pytest.approx(spread[1 + level, 1 + level])
    both = fit.estimate(np.array([1.0, -1.0, 0.0]))
    assert both.value == pytest.approx(slow[1] - slow[2])


def test_the_mean_effect_is_that_at_the_base_and_half_of_its_interactions():
    design, noise = factorial(2, 4, np.random.default_rng(2), noise=1e-3)
    values = noise + 1.0 * design.changes[:, 0] + 2.0 * design.changes.prod(1)
    mean, base = (Fit(design, values, coding).estimate(np.array([1.0, 0.0])).value for coding in ("mean", "base"))
    assert mean == pytest.approx(2.0, abs=0.01) and base == pytest.approx(1.0, abs=0.1)


def test_the_variance_of_seeds_is_that_of_an_analysis_of_variance():
    """One level, balanced: (mean square of seeds - mean square of noise) / runs of a seed."""
    generator = np.random.default_rng(3)
    seeds, repeats = 6, 3
    changes = np.array([[x] for x in (0.0, 1.0) for _ in range(seeds * repeats)])
    of_run = [seed for _ in (0, 1) for seed in range(seeds) for _ in range(repeats)]
    values = generator.standard_normal(len(of_run)) + 2.0 * generator.standard_normal(seeds)[of_run]
    fit = Fit(Design(changes, ["s"], of_run), values, "base")
    columns = np.column_stack([np.ones(len(of_run)), changes])
    rest = values - columns @ np.linalg.lstsq(columns, values)[0]
    means = np.array([rest[np.array(of_run) == seed].mean() for seed in range(seeds)])
    of_seeds = 2 * repeats * (means**2).sum() / (seeds - 1)
    of_noise = ((rest - means[of_run]) ** 2).sum() / (len(of_run) - 1 - seeds)
    assert fit.variances == pytest.approx([of_noise, 0.0, (of_seeds - of_noise) / (2 * repeats)], rel=1e-3)
    assert fit.estimate(np.array([1.0])).df == pytest.approx(len(of_run) - 1 - seeds, rel=1e-3)


def test_no_other_variances_are_likelier():
    design, noise = factorial(4, 2, np.random.default_rng(4))
    pairs, products = design.pairs("base")
    values = noise + products @ np.linspace(-2, 2, len(pairs)) + np.array([0.0, 1.5])[design.seeds]
    fit = Fit(design, values, "base")
    contrasts = linalg.null_space(design.fixed("base").T)

    def likelihood(variances) -> float:
        parts = [np.eye(len(values)), products @ products.T, design.of_seeds @ design.of_seeds.T]
        total = sum(size * part for size, part in zip(variances, parts, strict=True))
        return stats.multivariate_normal(cov=contrasts.T @ total @ contrasts).logpdf(contrasts.T @ values)

    assert min(fit.variances) > 0
    best = likelihood(fit.variances)
    for number, factor in itertools.product(range(3), (0.9, 1.1)):
        other = fit.variances * np.where(np.arange(3) == number, factor, 1.0)
        assert likelihood(other) < best


def test_the_largest_interaction_is_predicted_short_of_its_size():
    design, noise = factorial(4, 3, np.random.default_rng(5), noise=0.1)
    values = noise + 1.0 * design.changes[:, 1] * design.changes[:, 3]
    first, second, *_ = Fit(design, values, "mean").interactions()
    assert first.levels == (1, 3) and 0.8 < first.value < 1.0
    assert first.se < 0.2 and abs(second.value) < 0.2


def test_what_always_changes_together_or_with_a_seed_is_not_separated():
    changes = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]], float)
    design = Design(changes, ["a", "b", "c"], [1, 1, 2, 2, 1, 1])
    told = {name: design.separates(np.array(row)) for name, row in zip("abc", np.eye(3), strict=True)}
    assert told == {"a": False, "b": False, "c": False}
    assert design.separates(np.array([1.0, 1.0, 0.0]))
    other = Design(changes, ["a", "b", "c"], [1, 1, 1, 1, 2, 2])
    assert other.separates(np.array([0.0, 0.0, 1.0]))


def test_only_levels_that_a_run_has_both_of_have_an_interaction():
    changes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]], float)
    assert Design(changes, ["a", "a", "b"], [1] * 5).pairs("base")[0] == [(0, 2)]


def test_a_level_whose_repeated_runs_are_noisier_has_a_variance_of_its_own():
    generator = np.random.default_rng(6)
    design, noise = factorial(4, 4, generator)
    assert design.is_repeated and Fit(design, noise, "mean").noisier == []
    noisy = noise * np.where(design.changes[:, 2] == 1, 4.0, 1.0)
    fit = Fit(design, noisy, "mean")
    assert fit.noisier == [2] and 2.5 < (1 + fit.variances[3] / fit.variances[0]) ** 0.5 < 6
    once = Design(design.changes[::4], design.settings, design.seeds[::4])
    assert not once.is_repeated and Fit(once, noisy[::4], "mean").noisier == []


def test_too_few_runs_are_refused():
    with pytest.raises(ValueError, match="2 runs more than levels"):
        Fit(Design(np.array([[0.0], [1.0], [0.0], [1.0]]), ["a"], [1, 2, 1, 2]), np.arange(4.0), "base")
