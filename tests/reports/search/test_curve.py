"""The curve of nats over learning rate: its lowest point, its interval, and when there is none."""

import numpy as np
import pytest

from reports.search.report import find_optimum

RANGE = (0.01, 1.0)


def parabola(rates, best=0.1, noise=0.0, seed=0):
    generator = np.random.default_rng(seed)
    return [
        (float(rate), 3.0 + 0.05 * np.log(rate / best) ** 2 + noise * generator.standard_normal()) for rate in rates
    ]


def test_without_noise_the_lowest_point_is_exact_and_sure():
    found = find_optimum(parabola(np.geomspace(*RANGE, 9)), RANGE)
    assert found.rate == pytest.approx(0.1) and found.nats == pytest.approx(3.0)
    assert found.interval.high / found.interval.low < 1.2 and not found.at_edge
    assert np.all(found.low <= found.curve + 1e-9) and np.all(found.curve <= found.high + 1e-9)
    assert np.all(np.diff(found.rates) > 0) and len(found.rates) == len(found.curve) == len(found.low)


def test_the_curve_is_nearer_than_the_best_trial_and_its_interval_holds_the_truth():
    rates = np.geomspace(0.03, 0.3, 16)
    found = [find_optimum(parabola(rates, noise=0.006, seed=seed), RANGE) for seed in range(12)]
    off = [abs(np.log(each.rate / 0.1)) for each in found]
    best_off = [abs(np.log(each.best[0] / 0.1)) for each in found]
    assert np.mean(off) < np.mean(best_off)
    held = [each.interval.low <= 0.1 <= each.interval.high for each in found]
    assert sum(held) >= 9, "near 95 %; the better half is chosen by the noise too"


def test_a_steep_rise_on_one_side_does_not_shift_the_optimum():
    far = [(0.6, 4.0), (0.8, 4.5), (1.0, 5.5)]
    found = find_optimum([*parabola(np.geomspace(0.03, 0.4, 9)), *far], RANGE)
    assert found.rate == pytest.approx(0.1, rel=0.05)


def test_no_curve_where_it_does_not_bend_upward_or_trials_are_few():
    falling = [(rate, 3.0 - 0.1 * np.log(rate)) for rate in np.geomspace(*RANGE, 7)]
    found = find_optimum(falling, RANGE)
    assert found.rate == pytest.approx(1.0) and found.at_edge
    assert found.interval is None and not len(found.rates)
    few = find_optimum(parabola([0.05, 0.1, 0.3]), RANGE)
    assert few.rate == pytest.approx(0.1) and few.interval is None and not len(few.rates)
    assert find_optimum([], RANGE) is None


def test_the_order_of_the_trials_does_not_matter():
    pairs = parabola(np.geomspace(*RANGE, 9), noise=0.01)
    first, second = find_optimum(pairs, RANGE), find_optimum(pairs[::-1], RANGE)
    assert first.rate == second.rate and first.interval == second.interval
