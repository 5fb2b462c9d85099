"""Levels of looks against the literature and against simulated studies."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, t

from reports.stats.looks import AFTERWARDS, LEAST, bound_of, exits, later_level, planned_levels, spent
from reports.stats.power import course
from reports.stats.verdicts import Thresholds


def test_levels_are_those_of_pocock():
    # Pocock 1977, table 1: nominal levels of 2 to 5 equal looks at 5 %.
    for looks, level in ((2, 0.0294), (3, 0.0221), (4, 0.0182), (5, 0.0158)):
        seeds = tuple(range(4, 4 * looks + 1, 4))
        assert planned_levels(seeds, 0.05) == pytest.approx([level] * looks, abs=1.5e-4)
    assert planned_levels((4,), 0.05) == (0.05,)


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


@pytest.mark.parametrize("cards", [1, 6])
def test_all_looks_at_cards_that_share_a_control_err_no_more_than_planned(cards):
    generator, seeds, reps = np.random.default_rng(2), (4, 8, 12, 16), 40_000
    level = planned_levels(seeds, 0.05, cards)[0]
    noise = generator.normal(size=(reps, cards + 1, 4)).cumsum(2) / np.sqrt(np.arange(1, 5))
    largest = abs(noise[:, 1:] - noise[:, :1]).max(1) / np.sqrt(2)
    # The least adjusted p of a look: where its largest |Z| stands among those of all studies without an effect.
    adjusted = 1 - largest.argsort(0).argsort(0) / reps
    assert 0.043 < (adjusted < level).any(1).mean() < 0.052


def test_unplanned_looks_together_add_at_most_half_a_per_cent():
    levels, seeds = (0.05,), (4,)
    for _ in range(4):
        levels, seeds = (*levels, later_level(seeds, levels, seeds[-1] * 2, 0.05)), (*seeds, seeds[-1] * 2)
    assert spent((4, 8), levels[:2]) == pytest.approx(0.05 + AFTERWARDS / 2, abs=3e-5)
    assert spent((4, 8, 16), levels[:3]) == pytest.approx(0.05 + AFTERWARDS * 3 / 4, abs=3e-5)
    assert spent(seeds, levels) <= 0.05 + AFTERWARDS
    assert levels[1] < planned_levels((4, 8), 0.05)[0]


def test_a_card_among_several_needs_a_larger_z():
    assert bound_of(0.05) == pytest.approx(1.96, abs=1e-3)
    assert bound_of(0.05, 5) == pytest.approx(2.569, abs=1e-3)


def test_information_must_rise():
    with pytest.raises(ValueError, match="rise"):
        exits((4, 4), (2.0, 2.0))


def test_somebody_may_look_after_every_seed():
    """Half of what is left, again and again, comes to less than a quadrature tells: there is a least level."""
    levels, seeds = (0.05,), (4,)
    for now in range(5, 40):
        levels, seeds = (*levels, later_level(seeds, levels, now, 0.05)), (*seeds, now)
    assert min(levels) == LEAST == levels[-1] and spent(seeds, levels) < 0.05 + AFTERWARDS + 1e-5


@pytest.mark.parametrize("effect, futility", [(0.0, None), (0.02, None), (0.2, None), (0.0, 0.02), (0.02, 0.02)])
def test_the_expected_course_is_that_of_simulated_studies_with_moderated_variances(effect, futility):
    generator, seeds, reps, variance, pool_df = np.random.default_rng(4), (4, 8, 12, 16), 8000, 0.0178**2, 9.0
    level, thresholds = 0.0182, Thresholds()
    expected = course(seeds, [level] * 4, effect, (variance, pool_df, 0.0), thresholds, 1, futility)
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
