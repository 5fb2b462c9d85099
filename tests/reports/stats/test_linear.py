"""Least squares on runs against paired means and known effects."""

import numpy as np
import pytest
from scipy import stats

from reports.stats.analysis import Comparison, analyse_comparisons
from reports.stats.linear import analyse_runs
from reports.stats.runs import Runs
from reports.stats.seed_noise import Differences
from reports.stats.verdicts import EffectVerdict, Thresholds
from tests.reports.simulation import Noise
from tests.reports.stats.made_designs import full, screened, seeds_of, trained

THRESHOLDS = Thresholds()
GAMES = Noise(seed=0.006, arm=0.004, taste=0.05, quirk=0.05)
SEVEN = "abcdefg"
EFFECTS = dict(zip(SEVEN, (-0.03, 0.01, 0.0, -0.005, 0.02, 0.0, 0.0), strict=True))


def test_two_arms_are_the_paired_comparison():
    arms, comparisons = full("a")
    made = trained(arms, (1, 2, 3, 4), {"a": -0.01}, noise=GAMES)
    ours = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects["a"]
    paired = analyse_comparisons(made, comparisons, THRESHOLDS, "lower").effects["a"]
    for name in ("delta", "se_seed", "se_eval", "se", "df", "p", "p_adjusted"):
        assert getattr(ours, name) == pytest.approx(getattr(paired, name)), name
    assert ours.weights == pytest.approx(paired.weights) and (ours.n, ours.seeds) == (4, (1, 2, 3, 4))


def test_full_factorial_has_the_paired_means_and_nearly_their_errors():
    """Delta and the games' total noise are the same sums; seed noise and the games' specific part are means over all
    runs' residuals instead of each toggle's own, on more degrees of freedom."""
    arms, comparisons = full("abc")
    variances = []
    for number in range(30):
        made = trained(arms, (1, 2, 3, 4), {"a": -0.03, "b": 0.01, "c": 0.0}, noise=GAMES, number=number)
        ours = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects
        paired = analyse_comparisons(made, comparisons, THRESHOLDS, "lower").effects
        assert [ours[card].delta for card in ours] == pytest.approx([paired[card].delta for card in ours])
        assert [ours[card].se_eval for card in ours] == pytest.approx([paired[card].se_eval for card in ours], rel=0.2)
        variances.append([np.mean([each[card].se_seed ** 2 for card in each]) for each in (ours, paired)])
        assert all(ours[card].df > paired[card].df for card in ours) and ours["a"].n == 16
    runs, means = np.mean(variances, axis=0)
    assert runs == pytest.approx(means, rel=0.1)


def test_replicates_are_the_arms_and_seeds_of_a_two_way_layout():
    """Without games, an effect of a factorial with seeds in all arms is tested as by a two-way analysis of variance."""
    arms, comparisons = full("ab")
    made = trained(arms, (1, 2, 3), {"a": -0.003, "b": 0.0}, {frozenset("ab"): 0.02})
    effect = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects["a"]
    table = np.array([made[arm].means for arm in arms])
    rest = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    variance = (rest**2).sum() / (3 * 2)
    assert effect.se_seed == pytest.approx(np.sqrt(variance * 4 / 12)) and effect.df == pytest.approx(6)
    assert effect.p == pytest.approx(2 * stats.t.sf(abs(effect.delta) / effect.se_seed, 6))


def test_interactions_are_no_noise_where_runs_are_repeated_but_are_where_they_are_not():
    arms, comparisons = full("abc")
    strong = {frozenset("ab"): 0.05}
    noise = {}
    for seeds in ((1,), (1, 2)):
        made = trained(arms, seeds, dict.fromkeys("abc", 0.0), strong)
        noise[len(seeds)] = analyse_runs(made, comparisons, THRESHOLDS, "lower").noise
    assert noise[2].replicated and noise[2].df == 7 and noise[2].variance < 2e-6 * 3
    assert not noise[1].replicated and noise[1].df == 4 and noise[1].variance > 1e-4


@pytest.mark.parametrize("seeds, runs", [((1, 2), 16), ((1, 2), 32), ((1,), 16)])
def test_main_effects_of_a_screen_are_clear_of_an_interaction(seeds, runs):
    screen, arms, comparisons = screened(SEVEN)
    made = trained(arms, seeds_of(screen, seeds, runs), EFFECTS, {frozenset("ac"): 0.1}, number=3)
    found = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects
    for card, true in EFFECTS.items():
        assert found[card].delta == pytest.approx(true, abs=0.002)
        assert found[card].interval95.low <= true <= found[card].interval95.high
    assert {effect.n for effect in found.values()} == {runs // 2}


def test_runs_may_be_missing_as_long_as_they_tell_the_effect():
    screen, arms, comparisons = screened(SEVEN)
    made = trained(arms, seeds_of(screen, (1, 2), 16), EFFECTS, number=4)
    whole = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects
    for arm in ("run-02", "run-09", "run-13"):
        made.pop(arm)
    part = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects
    for card, true in EFFECTS.items():
        assert part[card].interval95.low <= true <= part[card].interval95.high
        assert (
            np.square(list(part[card].weights.values())).sum()
            > 1 / 4
            == pytest.approx(np.square(list(whole[card].weights.values())).sum())
        )


def test_effects_that_runs_cannot_tell_have_a_reason():
    screen, arms, comparisons = screened(SEVEN)
    made = trained(arms, seeds_of(screen, (1,), 16), EFFECTS)
    few = {arm: made[arm] for arm in list(made)[:3]}
    lacking = Runs(few, comparisons).lacking()
    assert set(lacking) == set(SEVEN)
    assert any("3 finished runs cannot tell it from the other effects" in reason for reason in lacking.values())
    with pytest.raises(ValueError, match="no effect can be told"):
        analyse_runs(few, comparisons, THRESHOLDS, "lower")
    half = {arm: result for arm, result in made.items() if "a" not in arms[arm]}
    assert Runs(half, comparisons).lacking() == {"a": "no finished run with it"}
    assert list(analyse_runs(half, comparisons, THRESHOLDS, "lower").effects) == list("bcdefg")


def test_cards_that_exclude_each_other_are_told_in_their_fractions():
    """`p` and `q` are never changed in one arm: each has half of the runs, so twice the variance; neither's large
    effect, by which the fractions differ, gets into the other's."""
    screen, arms, comparisons = screened("abpqcd", exclusive="pq")
    effects = {"a": 0.01, "b": 0.0, "p": -0.2, "q": 0.1, "c": -0.02, "d": 0.0}
    for seeds, runs in (((1, 2), screen.arms), ((1,), screen.arms), ((1, 2), 2 * screen.arms)):
        made = trained(arms, seeds_of(screen, seeds, runs), effects, number=5)
        found = analyse_runs(made, comparisons, THRESHOLDS, "lower").effects
        for card, true in effects.items():
            assert found[card].delta == pytest.approx(true, abs=0.003)
        assert found["p"].se_seed == pytest.approx(found["a"].se_seed * np.sqrt(2))
        assert found["p"].n == found["a"].n / 2 == runs // 4


def test_runs_not_seeds_are_asked_for_and_one_seed_of_a_factorial_is_judged():
    arms, comparisons = full("abcd")
    made = trained(arms, (1,), {"a": -0.03, "b": 0.0, "c": 0.0, "d": 0.0})
    found = analyse_runs(made, comparisons, THRESHOLDS, "lower")
    assert found.effects["a"].n == 8 and found.verdicts["a"] is EffectVerdict.HELPS
    few = analyse_runs(trained(*full("a")[:1], (1, 2), {"a": -0.03}), full("a")[1], THRESHOLDS, "lower")
    assert few.verdicts["a"] is EffectVerdict.UNDERPOWERED and few.effects["a"].n == 2


def test_noise_of_other_studies_moderates_that_of_the_runs():
    arms, comparisons = full("abc")
    made = trained(arms, (1,), dict.fromkeys("abc", 0.0))
    by_seed = {seed: 0.01 * (-1) ** seed for seed in range(6)}
    prior = {"old": Differences(by_seed, {"x": 1.0, "y": -1.0})}
    alone, moderate = (analyse_runs(made, comparisons, THRESHOLDS, "lower", prior=each) for each in (None, prior))
    variance = np.var(list(by_seed.values()), ddof=1) / 2  # of a run, half that of a difference
    assert moderate.noise.variance == pytest.approx((4 * alone.noise.variance + 2 * variance) / 6)
    assert moderate.noise.df == 6 and moderate.effects["a"].pooled and not alone.effects["a"].pooled
    assert moderate.effects["a"].own_interval95 == alone.effects["a"].interval95
    assert moderate.effects["a"].se_seed == pytest.approx(np.sqrt(moderate.noise.variance / 2))


def test_repeated_runs_lend_their_noise_and_single_ones_do_not():
    arms, comparisons = full("ab")
    twice = analyse_runs(trained(arms, (1, 2), {"a": 0.0, "b": 0.0}), comparisons, THRESHOLDS, "lower")
    once = analyse_runs(trained(arms, (1,), {"a": 0.0, "b": 0.0}), comparisons, THRESHOLDS, "lower")
    assert set(twice.differences) == {"a", "b"} and once.differences == {}
    deltas = list(twice.differences["a"].by_seed.values())
    assert np.mean(deltas) == pytest.approx(twice.effects["a"].delta)


def test_arms_without_pairs_have_no_seed_levels():
    arms, comparisons = full("ab")
    alone = {card: Comparison(each.with_it, each.without, False) for card, each in comparisons.items()}
    made = trained(arms, (1, 2, 3), {"a": -0.01, "b": 0.0})
    found = analyse_runs(made, alone, THRESHOLDS, "lower")
    within = np.mean([made[arm].means.var(ddof=1) for arm in arms])
    assert found.noise.variance == pytest.approx(within) and found.noise.df == 8
    assert not found.effects["a"].paired and found.differences == {}


def test_arms_of_other_games_are_refused():
    arms, comparisons = full("a")
    made = trained(arms, (1, 2), {"a": 0.0})
    with pytest.raises(ValueError, match="different games"):
        analyse_runs(made | {"a": trained(arms, (1, 2), {"a": 0.0}, games=61)["a"]}, comparisons, THRESHOLDS, "lower")
    with pytest.raises(ValueError, match="nothing to compare"):
        analyse_runs({}, comparisons, THRESHOLDS, "lower")


def test_intervals_cover_and_tables_stay_quiet():
    """300 screens of seven cards in 16 runs without any effect; `benchmarks/error_rates.py` has more."""
    screen, arms, comparisons = screened(SEVEN)
    seeds, held, wrong = seeds_of(screen, (1, 2), 16), [], 0
    noise = Noise(seed=0.006, arm=0.012, taste=0.014, quirk=0.042)
    for number in range(300):
        made = trained(arms, seeds, dict.fromkeys(SEVEN, 0.0), noise=noise, number=number, games=30)
        found = analyse_runs(made, comparisons, THRESHOLDS, "lower")
        held += [each.interval95.low <= 0 <= each.interval95.high for each in found.effects.values()]
        wrong += any(verdict in (EffectVerdict.HELPS, EffectVerdict.HURTS) for verdict in found.verdicts.values())
    assert 0.93 <= np.mean(held) <= 0.97 and wrong / 300 <= 0.08
