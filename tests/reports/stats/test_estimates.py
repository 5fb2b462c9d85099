"""Estimates on small made-up tables, against other formulas for the same thing."""

import numpy as np
import pytest
from scipy import stats

from reports.results.speed_and_looks import look_counts_text
from reports.stats.analysis import Comparison, analyse_comparisons
from reports.stats.clusters import ArmResult, cluster_variance, evaluation_noise, sums_by_game
from reports.stats.estimates import spread
from reports.stats.seed_noise import Differences, pooled_df
from reports.stats.verdicts import EffectVerdict, Thresholds
from tests.reports.simulation import Noise, simulate
from tests.reports.stats.checks import analyse, bootstrap_over_games

THRESHOLDS = Thresholds()
QUIET = Noise(taste=0.0, quirk=0.0)


def table(**arms: list[float]) -> dict[str, ArmResult]:
    """Arms whose metric is given by seed, the same in each of 50 games: no evaluation noise at all."""
    counts = np.full(50, 200)
    return {name: ArmResult(range(len(by_seed)), np.outer(by_seed, counts), counts) for name, by_seed in arms.items()}


def pair(name: str, by_seed: dict[int, float]) -> Differences:
    return Differences(by_seed, {name: 1.0, "control": -1.0})


# Games


def test_sums_by_game_keep_every_position():
    values = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
    sums, counts = sums_by_game(values, np.array([7, 3, 7, 3]))
    assert sums.tolist() == [[6.0, 4.0], [2.0, 0.0]] and counts.tolist() == [2, 2]  # games 3 and 7
    assert sums_by_game(values[0], np.array([7, 3, 7, 3]))[0].tolist() == [6.0, 4.0]


def test_closed_form_agrees_with_the_bootstrap_over_games():
    generator = np.random.default_rng(0)
    counts = generator.integers(20, 300, size=400)
    losses = (generator.normal(0, 0.1, 400) + 0.02) * counts
    hits = generator.binomial(counts, generator.beta(3, 5, 400)).astype(float)
    sums = np.stack([losses, hits])
    closed = cluster_variance(sums, counts)
    means = bootstrap_over_games(sums, counts, replicates=4000, seed=1)
    assert means.std(0, ddof=1) == pytest.approx(np.sqrt(closed), rel=0.04)  # 4,000 replicates: standard error 1.1 %
    assert np.array_equal(means[:50], bootstrap_over_games(sums, counts, replicates=50, seed=1))


def test_games_not_positions_are_the_units():
    """Positions of a game that agree fully: the variance is that of the games' number, not of the positions'."""
    generator = np.random.default_rng(2)
    by_game = generator.normal(size=100)
    counts = np.full(100, 200)
    assert cluster_variance(by_game * counts, counts) == pytest.approx(by_game.var(ddof=1) / 100)


def test_evaluation_noise_separates_common_from_seed_specific():
    generator = np.random.default_rng(3)
    counts = np.full(5000, 100)
    common = generator.normal(0, 0.3, size=5000)
    specific = generator.normal(0, 0.6, size=(4, 5000))
    noise = evaluation_noise([(1.0, (common + specific) * counts)], counts)
    assert noise.common == pytest.approx(0.09 / 5000, rel=0.2)
    assert noise.specific == pytest.approx(0.36 / 4 / 5000, rel=0.05)


def test_common_noise_is_never_negative():
    generator = np.random.default_rng(4)
    counts = np.full(60, 100)
    specific = generator.normal(size=(2, 60))
    noise = evaluation_noise([(1.0, (specific - specific.mean(0)) * counts)], counts)  # seeds that cancel exactly
    assert noise.common == 0.0 and noise.specific > 0


# Tests


def test_spread_with_one_part_is_that_parts_t():
    quiet = evaluation_noise([(1.0, np.full((4, 10), 3.0))], np.full(10, 2.0))
    only_seeds = spread(4.0, 3.0, quiet)
    assert (only_seeds.se, only_seeds.df) == (2.0, pytest.approx(3.0))
    assert only_seeds.interval(0, 0.95).high == pytest.approx(2 * stats.t.ppf(0.975, 3))


# Tables


def test_single_toggle_is_the_paired_t_test():
    control, treatment = [2.5233, 2.5307, 2.5345, 2.5360], [2.5124, 2.5211, 2.5200, 2.5394]  # spec: feasibility 3, ReLU
    effect = analyse(table(control=control, relu=treatment), "control", THRESHOLDS, "lower").effects["relu"]
    want = stats.ttest_rel(treatment, control)
    assert effect.delta == pytest.approx(-0.0079, abs=5e-5) and effect.p == pytest.approx(want.pvalue)
    assert (effect.interval95.high - effect.interval95.low) / 2 == pytest.approx(0.0124, abs=5e-5)
    assert effect.interval95 == effect.own_interval95 and effect.p_adjusted == effect.p


def test_unpaired_toggle_is_welchs_test():
    control, treatment = [1.0, 1.2, 1.1, 1.3], [1.4, 1.3, 1.9]
    effect = analyse(table(control=control, data=treatment), "control", THRESHOLDS, "lower", unpaired=["data"]).effects[
        "data"
    ]
    want = stats.ttest_ind(treatment, control, equal_var=False)
    assert (effect.n, effect.paired, effect.deltas) == (3, False, ())
    assert effect.se == pytest.approx(effect.delta / want.statistic) and effect.df == pytest.approx(want.df)
    assert effect.p == pytest.approx(want.pvalue)


def test_unequal_seeds_pair_on_what_both_have():
    arms = table(control=[1.0, 1.1, 1.2, 1.3])
    counts = arms["control"].counts
    arms["t"] = ArmResult((3, 9, 1), np.outer([1.6, 5.0, 1.2], counts), counts)
    effect = analyse(arms, "control", THRESHOLDS, "lower").effects["t"]
    assert effect.seeds == (1, 3) and effect.deltas == pytest.approx((0.1, 0.3))


def test_few_seeds_are_shown_but_underpowered():
    arms = table(control=[2.5, 2.52, 2.51, 2.53], full=[2.6, 2.63, 2.6, 2.62], two=[1.0, 1.01], one=[1.0])
    found = analyse(arms, "control", THRESHOLDS, "lower")
    assert found.verdicts["full"] is EffectVerdict.HURTS
    for name in ("two", "one"):
        assert found.verdicts[name] is EffectVerdict.UNDERPOWERED and found.effects[name].p_adjusted is None
    one = found.effects["one"]  # no variance of its own: the pool's
    assert one.own_interval95 is None and one.pooled and one.interval95 is not None
    alone = analyse(table(control=[2.5], one=[1.0]), "control", THRESHOLDS, "lower").effects["one"]
    assert (alone.se, alone.interval95, alone.p) == (None, None, None)


def test_arms_that_compute_the_same_have_no_effect():
    found = analyse(table(control=[2.5, 2.6, 2.4], same=[2.5, 2.6, 2.4]), "control", THRESHOLDS, "lower")
    assert found.pool is None and found.effects["same"].p == 1.0 and found.verdicts["same"] is EffectVerdict.NO_EFFECT


def test_a_toggle_noisier_than_the_others_keeps_most_of_its_noise_and_makes_theirs_wider_never_narrower():
    generator = np.random.default_rng(8)
    arms = simulate(generator, [0.0, 0.03, 0.0], noise=QUIET, arm_scale=[1, 1, 1, 3])
    found = analyse(arms, "control", THRESHOLDS, "lower")
    without = analyse({name: arm for name, arm in arms.items() if name != "t2"}, "control", THRESHOLDS, "lower")
    noisy = found.effects["t2"]
    assert noisy.pooled and noisy.se_seed**2 >= 0.6 * np.var(noisy.deltas, ddof=1) / 4  # 3 of 5 degrees of freedom
    for name in ("t0", "t1"):
        assert found.effects[name].se_seed >= without.effects[name].se_seed
    assert found.verdicts["t2"] is EffectVerdict.NOT_SHOWN


def test_earlier_toggles_add_degrees_of_freedom_and_no_row():
    arms = table(control=[2.5, 2.52, 2.51], t=[2.52, 2.53, 2.54])
    alone = analyse(arms, "control", THRESHOLDS, "lower")
    pooled = analyse(arms, "control", THRESHOLDS, "lower", prior={"old": pair("old", {0: 0.01, 1: 0.0, 2: 0.02})})
    assert pooled.pool.df > alone.pool.df and list(pooled.effects) == ["t"]
    assert pooled.effects["t"].delta == alone.effects["t"].delta


FACTORIAL = {
    "a": Comparison(("a", "ab"), ("none", "b")),
    "b": Comparison(("b", "ab"), ("none", "a")),
}


def test_main_effects_of_a_factorial_design():
    """Two toggles over four arms: orthogonal (no correlation) and with half the variance of a plain pair."""
    arms = table(none=[2.50, 2.52, 2.51], a=[2.45, 2.46, 2.46], b=[2.51, 2.52, 2.53], ab=[2.46, 2.46, 2.47])
    found = analyse_comparisons(arms, FACTORIAL, THRESHOLDS, "lower")
    assert found.effects["a"].deltas == pytest.approx((-0.05, -0.06, -0.055)) and found.differences["a"].scale == 0.5
    assert found.differences["a"].correlation(found.differences["b"]) == 0 and found.pool.df == pytest.approx(4)
    variances = [np.var(found.effects[name].deltas, ddof=1) for name in "ab"]
    moderate = (2 * np.mean(variances) + 2 * variances[1]) / 4  # 2 degrees of freedom of the pool, 2 of its own
    assert found.effects["b"].se_seed == pytest.approx(np.sqrt(moderate / 3))


def test_neighbours_of_a_cumulative_design_share_the_arm_between_them():
    first, second = Comparison(("plus-a",), ("control",)), Comparison(("plus-b",), ("plus-a",))
    differences = [Differences({0: 0.0, 1: 0.0}, comparison.weights) for comparison in (first, second)]
    assert differences[0].correlation(differences[1]) == -0.5
    assert pooled_df(differences) == pytest.approx(1.6)


def test_comparisons_name_each_arm_once():
    with pytest.raises(ValueError, match="each once"):
        analyse_comparisons(table(a=[1.0, 2.0]), {"t": Comparison(("a",), ("a",))}, THRESHOLDS, "lower")


def test_higher_is_better_for_hits():
    found = analyse(
        table(control=[0.35, 0.351, 0.352], t=[0.38, 0.382, 0.381]), "control", THRESHOLDS, "higher", metric="top1"
    )
    assert found.verdicts["t"] is EffectVerdict.HELPS and found.margins["t"] == THRESHOLDS.smallest_share


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"control": "nobody"}, "no arm nobody"),
        ({"unpaired": ["nobody"]}, "unpaired: nobody"),
        ({"other_games": True}, "different games"),
        ({"other_seeds": True}, "no seed in common"),
    ],
)
def test_tables_that_cannot_be_are_refused(change, message):
    arms = table(control=[1.0, 1.1], t=[1.0, 1.2])
    counts = np.full(51 if change.pop("other_games", False) else 50, 200)
    seeds = (8, 9) if change.pop("other_seeds", False) else (0, 1)
    arms["t"] = ArmResult(seeds, np.outer([1.0, 1.2], counts), counts)
    with pytest.raises(ValueError, match=message):
        analyse(arms, **{"control": "control", "thresholds": THRESHOLDS, "better": "lower", **change})


@pytest.mark.parametrize("sums", [np.ones((1, 3)), np.array([[1.0, np.nan], [1.0, 1.0]])])
def test_arm_results_are_checked(sums):
    with pytest.raises(ValueError, match="sums"):
        ArmResult((0, 1), sums, np.array([5, 5]))


def test_looks_are_said():
    assert look_counts_text({}) == "Looks at the test results: 0."
    assert "3 (table 2, claims 1)" in look_counts_text({"table": 2, "claims": 1, "plots": 0})
