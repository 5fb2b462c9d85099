"""More seeds of a control: the same numbers where there are none, and coverage over studies with a generator of its
own."""

import numpy as np
import pytest

from reports.stats.analysis import Comparison, analyse_comparisons
from reports.stats.clusters import ArmResult
from reports.stats.verdicts import Thresholds

GAMES = np.array([120.0, 180.0, 200.0, 140.0, 160.0])


def arms_of(generator, toggles, n, m, correlation, sd=0.0127, effect=0.01):
    """Arms of one base: a run's level is its own luck and that of its seed; games hold no noise of their own."""
    shared = generator.normal(0, sd * np.sqrt(correlation), m)
    arms = {}
    for arm in ["control", *(f"t{number}" for number in range(toggles))]:
        seeds = m if arm == "control" else n
        level = 2.5 + (arm != "control") * effect + shared[:seeds]
        level = level + generator.normal(0, sd * np.sqrt(1 - correlation), seeds)
        arms[arm] = ArmResult(tuple(range(seeds)), np.outer(level, GAMES), GAMES)
    return arms


def analysed(arms, n, m, toggles, reverse=False):
    pair = (lambda arm: (["control"], [arm])) if reverse else (lambda arm: ([arm], ["control"]))
    comparisons = {
        arm: Comparison(*pair(arm), lone="control", more=range(n, m))
        for arm in (f"t{number}" for number in range(toggles))
    }
    return analyse_comparisons(arms, comparisons, Thresholds(), "lower").effects


@pytest.mark.parametrize("toggles, n, m, correlation, gain", [
    (8, 4, 12, 0.0, (0.76, 0.89)),
    (8, 4, 12, 0.2, (0.78, 0.92)),
    (1, 4, 12, 0.2, None),
    (3, 3, 9, 0.7, None),
])  # fmt: skip
def test_intervals_cover_and_are_narrower(toggles, n, m, correlation, gain):
    generator, reps = np.random.default_rng([toggles, n]), 150 if toggles > 1 else 500
    covered, errors, plain = [], [], []
    for _ in range(reps):
        arms = arms_of(generator, toggles, n, m, correlation)
        for effect in analysed(arms, n, m, toggles).values():
            assert (effect.n, effect.control_seeds) == (n, m) or effect.control_seeds == n  # too alike to gain
            covered.append(effect.interval95.low <= 0.01 <= effect.interval95.high)
            errors.append(effect.delta - 0.01)
            plain.append(np.mean(effect.deltas) - 0.01)
    assert 0.93 < np.mean(covered) < 0.985
    ratio = np.std(errors) / np.std(plain)
    assert ratio < 1.0 if gain is None else gain[0] < ratio < gain[1]


def test_the_control_may_stand_on_either_side():
    arms = arms_of(np.random.default_rng(1), 3, 4, 9, 0.2)
    there, back = analysed(arms, 4, 9, 3), analysed(arms, 4, 9, 3, reverse=True)
    for name in there:
        assert there[name].delta == pytest.approx(-back[name].delta)
        assert there[name].se == pytest.approx(back[name].se) and there[name].df == pytest.approx(back[name].df)


def test_without_more_seeds_nothing_changes():
    arms = arms_of(np.random.default_rng(1), 3, 4, 4, 0.2)
    plain = {name: Comparison([name], ["control"]) for name in ("t0", "t1", "t2")}
    assert analysed(arms, 4, 9, 3) == analyse_comparisons(arms, plain, Thresholds(), "lower").effects


def test_games_noise_is_that_of_the_weighted_means():
    """What a game adds to every seed of a treatment is common to all seeds, whatever the control's number."""
    generator = np.random.default_rng(3)
    arms = arms_of(generator, 2, 4, 10, 0.0)
    per_game = generator.normal(0, 0.02, len(GAMES)) * GAMES
    for name in ("t0", "t1"):
        arms[name] = ArmResult(arms[name].seeds, arms[name].sums + per_game, GAMES)
    rest = per_game / GAMES.sum() - per_game.sum() / GAMES.sum() * GAMES / GAMES.sum()
    variance = len(GAMES) / (len(GAMES) - 1) * (rest**2).sum()
    for effect in analysed(arms, 4, 10, 2).values():
        assert effect.control_seeds == 10 and effect.se_eval == pytest.approx(np.sqrt(variance))
