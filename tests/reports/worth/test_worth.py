"""What an effect is worth: curves against slow ones, exact cases, and the interval's coverage by simulation."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from reports.worth.curve import extended, falling, place_of, value_at, worth_in_samples
from reports.worth.effects import control_has_it
from tests.reports.made_studies import plan_study
from tests.reports.worth.made import SAMPLES, curve, effect

LEVELS = np.array([2.9, 2.7, 2.55, 2.45])
EXACT = [[level - 1e-9, level + 1e-9] for level in LEVELS]
"""Two seeds that all but agree."""


def test_isotonic_regression_is_the_nearest_falling_curve():
    random = np.random.default_rng(0)
    means, weights = 3 - 0.1 * np.arange(4) + 0.1 * random.standard_normal((6, 4)), np.array([4.0, 1.0, 8.0, 4.0])
    rules = [{"type": "ineq", "fun": lambda fit, at=at: fit[at] - fit[at + 1]} for at in range(3)]
    for row, fitted in zip(means, falling(means, weights), strict=True):
        slow = minimize(lambda fit, row=row: (weights * (fit - row) ** 2).sum(), row, constraints=rules).x
        assert fitted == pytest.approx(slow, abs=1e-4)


def test_a_curve_is_read_both_ways_and_ends_four_times_beyond_its_points():
    places, nats = extended(np.log2(SAMPLES), LEVELS)
    assert 2 ** places[[0, -1]] == pytest.approx([25_000 / 4, 800_000])
    assert nats[[0, -1]] == pytest.approx([2.9 + 2 * 0.2, 2.45 - 2 * 0.1])
    for at in np.log2([7_000, 25_000, 80_000, 100_000, 300_000]):
        found = place_of(places, nats, value_at(places, nats, at))
        assert found == pytest.approx(at)
    flat = np.array([3.0, 2.8, 2.8, 2.7])
    assert place_of(np.arange(4.0), flat, np.array(2.75)) == pytest.approx(2.5)
    assert place_of(np.arange(4.0), flat, np.array(9.0)) == 0.0 and place_of(np.arange(4.0), flat, np.array(0.0)) == 3.0


def test_worth_where_nothing_is_noisy():
    made = curve(EXACT)

    def value(delta, samples, control_has_it):
        return worth_in_samples(made, effect(delta, 1e-9), samples, control_has_it).value

    assert value(-0.10, 100_000, False) == pytest.approx(2.0)  # with it at 100k as good as the control at 200k
    assert value(-0.15, 100_000, True) == pytest.approx(2.0)  # without it at 100k as bad as the control at 50k
    assert value(+0.15, 100_000, False) == pytest.approx(0.5)
    assert value(0.0, 100_000, False) == 1.0
    assert value(-0.05, 100_000, False) == pytest.approx(math.sqrt(2))


def test_beyond_the_curve_there_are_bounds():
    made = curve(EXACT)
    far = worth_in_samples(made, effect(-1.0, 0.01), 100_000, False)
    assert far.value == pytest.approx(8) and far.numbers == (None, None, None)
    assert far.text == "more than × 8.0"
    back = worth_in_samples(made, effect(-5.0, 0.01), 100_000, True)
    assert back.value == pytest.approx(16) and back.text == "more than × 16"
    harm = worth_in_samples(made, effect(5.0, 0.01), 100_000, False)
    assert harm.value == pytest.approx(1 / 16) and harm.text == "less than × 0.062"
    half = worth_in_samples(made, effect(-0.1, 0.09), 100_000, False)
    assert half.numbers[0] == pytest.approx(2) and half.numbers[1] < 1 and half.numbers[2] is None
    assert half.scaled(0.5).numbers[0] == pytest.approx(1) and half.scaled(0.5).numbers[2] is None


def test_beyond_the_samples_that_were_trained_it_is_marked_and_has_no_interval():
    made = curve(EXACT)
    below = worth_in_samples(made, effect(-0.45, 0.01), 100_000, True)  # the slope of the first half
    assert below.value == pytest.approx(4 * 2**0.5) and below.text == "about × 5.7 (beyond the curve)"
    assert below.numbers == (pytest.approx(below.value), None, None)
    assert below.scaled(2.0).text == "about × 11 (beyond the curve)"
    within = worth_in_samples(made, effect(-0.25, 0.01), 100_000, True)
    assert within.text.startswith("× 2.8 [") and None not in within.numbers
    above = worth_in_samples(made, effect(-0.15, 0.001), 100_000, False)
    assert above.text == "about × 2.8 (beyond the curve)"


def test_what_an_effect_and_the_curve_have_in_common_is_in_both():
    """The effect moves with the control's mean: less noise where an unlucky control lifts both, more the other way."""
    made, width = curve([[level - 0.02, level + 0.02] for level in LEVELS]), {}
    for of_base in (-1.0, 0.0, 1.0):
        worth = worth_in_samples(made, effect(-0.05, 0.03, 30.0, of_base=of_base), 100_000, False)
        width[of_base] = math.log(worth.high / worth.low)
    assert width[1.0] != width[0.0] != width[-1.0] and (width[-1.0] - width[0.0]) * (width[1.0] - width[0.0]) < 0


def test_without_a_curve_there_is_no_worth():
    assert worth_in_samples(curve(EXACT[:2], SAMPLES[:2]), effect(-0.1, 0.01), 50_000, False) is None
    single = curve([[level] for level in LEVELS])  # nothing tells its noise
    assert worth_in_samples(single, effect(-0.1, 0.01), 50_000, False) is None


@pytest.mark.parametrize(
    "delta, at, control_has_it",
    [(-0.05, 100_000, False), (-0.12, 100_000, True), (0.08, 100_000, False), (-0.002, 50_000, True)],
)
def test_the_interval_covers_the_truth(delta, at, control_has_it):
    """Curves that flatten, by a power law; arms as noisy as GoNN's at 100,000 samples; the control's seeds are those of
    the curve."""
    random, sd, n, tables = np.random.default_rng(1), 0.0127, 4, 100
    sign = -1 if control_has_it else 1

    def loss(log_samples):
        return 1.2 + 9.5 * 2 ** (-0.17 * log_samples)

    here, index = math.log2(at), SAMPLES.index(at)
    there = brentq(lambda place: loss(place) - loss(here) - sign * delta, here - 5, here + 5)
    truth, hits = 2 ** (sign * (there - here)), 0
    for _ in range(tables):
        runs = loss(np.log2(SAMPLES))[:, None] + sd * random.standard_normal((4, n))
        other = loss(here) + sign * delta + sd * random.standard_normal(n)
        deltas = sign * (other - runs[index])
        variance = (2 * 2 * sd**2 * random.chisquare(9) / 9 + (n - 1) * deltas.var(ddof=1)) / (n + 1)
        measured = effect(float(deltas.mean()), math.sqrt(variance / n), n + 1, of_base=-sign)
        worth = worth_in_samples(curve(runs), measured, at, control_has_it)
        hits += worth.low <= truth <= worth.high
    assert hits >= 0.90 * tables  # of 95 %: within 2.3 standard errors of so few tables


def test_the_side_of_a_contrast_that_the_control_is_on(tmp_path):
    """Also of cards that a screen varies in a part of the arms without the control: those are as in the base."""
    exclusive = ("global_pooling_head", "pooled_maximum")
    others = ("parametric_relu", "ladder_input", "ko_plane", "chain_pooling")
    study = plan_study(tmp_path, *others, *exclusive, design="screen", seeds=(1, 2), runs=16).study
    assert any(study.arms[0].id not in (*each.with_it, *each.without) for each in study.contrasts)
    has = {each.card: control_has_it(study, each) for each in study.contrasts}
    assert has == {card: card != "chain_pooling" for card in (*others, *exclusive)}
    study = plan_study(tmp_path, "parametric_relu", "chain_pooling").study
    assert [control_has_it(study, each) for each in study.contrasts] == [True, False]
