"""Interactions of made designs: which string stands out, what is behind it, what a card does beside another."""

import itertools

import numpy as np
import pytest
from scipy import stats

from reports.stats.interactions import find_interactions
from reports.stats.pairs import effects_alone, pair_table
from reports.stats.runs import Runs
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import Thresholds
from tests.reports.stats.made_designs import full, screened, seeds_of, trained

THRESHOLDS = Thresholds()
SEVEN = "abcdefg"
EFFECTS = dict(zip(SEVEN, (-0.03, 0.01, 0.05, -0.005, 0.02, 0.0, 0.0), strict=True))
STRONG = frozenset("ac")


def made_screen(runs=16, seeds=(1, 2), interactions=None, number=3):
    screen, arms, comparisons = screened(SEVEN)
    return Runs(
        trained(arms, seeds_of(screen, seeds, runs), EFFECTS, interactions or {STRONG: 0.04}, number=number),
        comparisons,
    )


@pytest.mark.parametrize("runs, seeds", [(16, (1,)), (16, (1, 2)), (32, (1, 2))])
def test_the_right_string_stands_out_and_names_the_likeliest_pair_first(runs, seeds):
    found = find_interactions(made_screen(runs, seeds), THRESHOLDS, EFFECTS)
    shown = found.shown(0.05)
    assert len(shown) == 1 and next(iter(shown[0].pairs)) == ("a", "c")
    assert shown[0].estimate.value == pytest.approx(0.04, abs=0.002)
    assert found.strings[0] == shown[0]


def test_every_pair_is_in_one_string_of_resolution_four():
    """Sixteen arms of seven cards: 21 pairs in 7 strings of 3, orthogonal to main effects; with a seed a half, one of
    them cannot be told from the seeds."""
    strings = find_interactions(made_screen(), THRESHOLDS, EFFECTS).strings
    pairs = [pair for string in strings for pair in string.pairs]
    assert sorted(pairs) == list(itertools.combinations(SEVEN, 2)) and {len(each.pairs) for each in strings} == {3}
    assert [each.reason for each in strings if each.estimate is None] == ["cannot be told from the seeds"]
    assert all(each.estimate for each in find_interactions(made_screen(seeds=(1,)), THRESHOLDS, EFFECTS).strings)


def test_pairs_of_a_string_add_up_with_their_signs():
    """An interaction of any pair of a string comes out with that pair's sign."""
    (string,) = (
        each for each in find_interactions(made_screen(), THRESHOLDS, EFFECTS).strings if ("a", "c") in each.pairs
    )
    for pair, sign in string.pairs.items():
        runs = made_screen(interactions={frozenset(pair): 0.04})
        found = next(each for each in find_interactions(runs, THRESHOLDS, EFFECTS).strings if pair in each.pairs)
        assert found.estimate.value == pytest.approx(sign * 0.04, abs=0.002)


def test_mean_square_test_is_that_of_an_analysis_of_variance():
    arms, comparisons = full("ab")
    made = trained(arms, (1, 2, 3), {"a": 0.01, "b": 0.0}, {frozenset("ab"): 0.002})
    found = find_interactions(Runs(made, comparisons), THRESHOLDS, {})
    table = {arm: made[arm].means for arm in arms}
    contrast = (table["a+b"] - table["a"] - table["b"] + table["none"]) / 2
    both = np.array([table[arm] for arm in arms])
    rest = both - both.mean(1, keepdims=True) - both.mean(0) + both.mean()
    f = 3 * contrast.mean() ** 2 / ((rest**2).sum() / 6)
    assert found.two_card.f == pytest.approx(f) and found.two_card.df == (1.0, 6.0)
    assert found.two_card.p == pytest.approx(stats.f.sf(f, 1, 6)) and found.higher is None
    assert found.strings[0].estimate.p == pytest.approx(found.two_card.p)  # no noise of games: t squared is F


def test_strings_are_tested_against_repeats_or_other_studies_or_not_at_all():
    once, twice = made_screen(16, (1,)), made_screen(32, (1, 2))
    assert find_interactions(once, THRESHOLDS, EFFECTS).two_card is None
    pool = SeedPool(2e-6, 9.0, ("old",), {})
    other = find_interactions(once, THRESHOLDS, EFFECTS, pool).two_card
    assert (other.variance, other.df, other.replicated) == (1e-6, (7.0, 9.0), False) and other.p < 1e-6
    own = find_interactions(twice, THRESHOLDS, EFFECTS)
    assert own.two_card.replicated and own.two_card.df == (7.0, 15.0) and own.two_card.p < 1e-6
    assert own.higher.df == (1.0, 15.0) and own.higher.p > 0.001  # the column of cards that no card stands in


def test_interactions_hidden_by_fractions_are_listed():
    screen, arms, comparisons = screened(list("abpqcd"), exclusive="pq")
    made = trained(arms, seeds_of(screen, (1,), screen.arms), dict.fromkeys("abpqcd", 0.0))
    strings = find_interactions(Runs(made, comparisons), THRESHOLDS, {}).strings
    listed = {pair for string in strings for pair in string.pairs}
    assert listed == set(itertools.combinations("abpqcd", 2)) - {("p", "q")}
    hidden = [string for string in strings if string.reason]
    assert all(string.reason == "cannot be told from the fractions" for string in hidden)


def test_a_card_that_harms_alone_and_helps_beside_another():
    """+.11 on the whole, though -.27 without the other and +.49 with it."""
    arms, comparisons = full("ab")
    runs = Runs(trained(arms, (1, 2, 3), {"a": 0.11, "b": -0.05}, {frozenset("ab"): 0.38}), comparisons)
    table = pair_table(runs, "a", "b", THRESHOLDS)
    for estimate, true in zip(table.of_one, (-0.27, 0.49), strict=True):
        assert estimate.value == pytest.approx(true, abs=0.003)
        assert estimate.interval95.low < estimate.value < estimate.interval95.high
    assert [each.value for each in table.of_other] == pytest.approx([-0.43, 0.33], abs=0.003)
    assert table.interaction.value == pytest.approx(0.38, abs=0.003)
    means = {arm: result.means.mean() for arm, result in runs_of(runs).items()}
    cells = {(False, False): "none", (True, False): "a", (False, True): "b", (True, True): "a+b"}
    for cell, arm in cells.items():
        assert table.cells[cell] == pytest.approx(means[arm])


def runs_of(runs):
    """Arm -> its runs' values."""
    arms = {arm for arm, _ in runs.labels}
    values = {arm: [v for (own, _), v in zip(runs.labels, runs.values, strict=True) if own == arm] for arm in arms}
    return {arm: type("Values", (), {"means": np.array(each)}) for arm, each in values.items()}


def test_effects_with_all_others_off_and_on():
    arms, comparisons = full("abc")
    three = {frozenset("ab"): 0.02, frozenset("ac"): -0.01}
    runs = Runs(trained(arms, (1, 2), {"a": 0.05, "b": 0.0, "c": 0.0}, three), comparisons)
    off, on = effects_alone(runs, THRESHOLDS)["a"]
    assert off.value == pytest.approx(0.05 - 0.02 + 0.01, abs=0.004) and on.value == pytest.approx(0.06, abs=0.004)
    assert off.interval95.low <= 0.04 <= off.interval95.high
    assert effects_alone(made_screen(), THRESHOLDS, None) == {}


def test_level_of_the_strings_holds():
    """200 screens without interactions: strings stand out, and the test of all of them finds some, 1 time in 20."""
    screen, arms, comparisons = screened(SEVEN)
    seeds, shown, found = seeds_of(screen, (1, 2), 32), 0, 0
    for number in range(200):
        made = trained(arms, seeds, dict.fromkeys(SEVEN, 0.0), number=number, games=20)
        each = find_interactions(Runs(made, comparisons), THRESHOLDS, {})
        shown += bool(each.shown(0.05))
        found += each.two_card.p < 0.05
    assert shown / 200 <= 0.09 and 0.015 <= found / 200 <= 0.09
