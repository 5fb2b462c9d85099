"""Do the intervals cover and do A/A tables stay quiet? 1,000 simulated studies a question (seeded: the same answer
every time).

No binomial slack is allowed, though 1,000 tables with a true rate of exactly 5 % would show more than 50 false ones
half of the time: Holm over correlated toggles stays below (with 4 seeds, in runs of 8,000 and more tables: 4.7 % with
one toggle, 4.0 % with two, 2.8 % with five). With 3 seeds and a single toggle the rate is 5.2 %.
"""

import numpy as np
import pytest

from reports.stats.analysis import Comparison, analyse_comparisons
from reports.stats.power import smallest_effect
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import EffectVerdict, Thresholds
from tests.reports.simulation import Noise, simulate
from tests.reports.stats.checks import analyse

STUDIES = 1000
EFFECTS = [-0.02, -0.005, 0.0, 0.01, 0.03]
CLAIMED = (EffectVerdict.HELPS, EffectVerdict.HURTS)


def coverage(make_effects, seed=0, own=False, **settings) -> float:
    """Share of 95 % intervals, over the toggles of 1,000 studies, that hold the true effect."""
    generator = np.random.default_rng(seed)
    held = []
    for study in range(STUDIES):
        effects = make_effects(study)
        found = analyse(simulate(generator, effects, **settings), "control", Thresholds(), "lower").effects
        for true, effect in zip(effects, found.values(), strict=True):
            interval = effect.own_interval95 if own else effect.interval95
            held.append(interval.low <= true <= interval.high)
    return float(np.mean(held))


def false_tables(make_count, seed=0, **settings) -> float:
    """Share of 1,000 tables of toggles without any effect that show at least one helps or hurts."""
    generator = np.random.default_rng(seed)
    wrong = 0
    for study in range(STUDIES):
        arms = simulate(generator, [0.0] * make_count(study), **settings)
        wrong += any(
            verdict in CLAIMED for verdict in analyse(arms, "control", Thresholds(), "lower").verdicts.values()
        )
    return wrong / STUDIES


def mixed(study: int) -> list[float]:
    """One to five toggles with effects of both signs."""
    return EFFECTS[: 1 + study % 5]


@pytest.mark.parametrize("own", [False, True], ids=["pooled", "own"])
def test_intervals_cover_the_true_effect(own):
    assert 0.94 <= coverage(mixed, seed=1, own=own) <= 0.97


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"seeds": 3}, id="3 seeds"),
        pytest.param({"seeds": 8}, id="8 seeds"),
        pytest.param({"games": 30}, id="30 games"),
        pytest.param({"noise": Noise(taste=0.0)}, id="games like both arms alike"),
        pytest.param({"noise": Noise(taste=0.06)}, id="evaluation noise dominates"),
        pytest.param({"noise": Noise(quirk=0.0)}, id="no seed-specific evaluation noise"),
    ],
)
def test_coverage_holds_for_other_noise(settings):
    assert 0.94 <= coverage(mixed, seed=2, **settings) <= 0.97


@pytest.mark.parametrize(
    "scale",
    [
        pytest.param([1, 0.7, 0.85, 1, 1.2, 1.4], id="toggles of unlike noise"),
        pytest.param([1.4, 1, 1, 1, 1, 1], id="noisy control"),
        pytest.param([0.6, 1, 1, 1, 1, 1], id="quiet control"),
    ],
)
def test_coverage_holds_when_arms_differ_mildly_in_noise(scale):
    """The pool has the weight of 2 degrees of freedom where it may have 10: intervals of toggles that are alike are a
    little too wide rather than too narrow."""
    assert 0.94 <= coverage(lambda _: EFFECTS, seed=3, arm_scale=scale) <= 0.975


def test_at_most_one_in_twenty_tables_without_effects_shows_one():
    assert false_tables(lambda study: 1 + study % 5, seed=4) <= 0.05
    assert false_tables(lambda _: 5, seed=5, arm_scale=[1, 0.7, 0.85, 1, 1.2, 1.4]) <= 0.05


def test_unpaired_toggles_cover_too():
    generator = np.random.default_rng(6)
    held = 0
    for _ in range(STUDIES):
        arms = simulate(generator, [0.01], noise=Noise(seed=0.0))  # without pairs there is no common seed effect either
        effect = analyse(arms, "control", Thresholds(), "lower", unpaired=["t0"]).effects["t0"]
        held += effect.interval95.low <= 0.01 <= effect.interval95.high
    assert 0.94 <= held / STUDIES <= 0.97


def test_main_effects_of_a_factorial_design_cover():
    generator = np.random.default_rng(9)
    comparisons = {"a": Comparison(("t0", "t2"), ("control", "t1")), "b": Comparison(("t1", "t2"), ("control", "t0"))}
    held = []
    for _ in range(STUDIES):
        arms = simulate(generator, [0.01, -0.02, -0.01])
        found = analyse_comparisons(arms, comparisons, Thresholds(), "lower").effects
        held += [
            found[name].interval95.low <= true <= found[name].interval95.high
            for name, true in (("a", 0.01), ("b", -0.02))
        ]
    assert 0.94 <= np.mean(held) <= 0.97


def test_seed_variance_is_not_reported_as_evaluation_variance():
    """se_eval estimates the part common to all seeds: with many seeds it does not change, while se_seed shrinks as
    1/sqrt(n)."""
    parts = {}
    for seeds in (4, 16):
        generator = np.random.default_rng(7)
        found = [
            analyse(simulate(generator, [0.0], seeds=seeds), "control", Thresholds(), "lower").effects["t0"]
            for _ in range(200)
        ]
        parts[seeds] = [
            float(np.mean([getattr(effect, part) ** 2 for effect in found])) for part in ("se_seed", "se_eval")
        ]
    assert parts[4][0] / parts[16][0] == pytest.approx(4, rel=0.15)
    assert parts[4][1] == pytest.approx(parts[16][1], rel=0.15)


def test_real_effects_are_found_and_their_power_is_as_planned():
    """One toggle, 5 seeds, sd .011 between them and no evaluation noise: the effect planned for is found in 80 % of
    studies."""
    noise = Noise(quirk=0.0, taste=0.0, arm=0.011 / 2**0.5)
    effect = smallest_effect(SeedPool(0.011**2, 1.0, (), {}), 0.0, 5, Thresholds())
    generator = np.random.default_rng(8)
    hits = 0
    for _ in range(STUDIES):
        arms = simulate(generator, [-effect], seeds=5, noise=noise)
        hits += analyse(arms, "control", Thresholds(), "lower").verdicts["t0"] is EffectVerdict.HELPS
    assert hits / STUDIES == pytest.approx(0.80, abs=0.04)  # 3 standard errors
