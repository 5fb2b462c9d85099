"""The curve of nats over learning rate, what is said of a search, and the files that say it."""

import numpy as np
import pytest

from ablations.search import Tried
from reports.search import report
from reports.search.page import table_of
from reports.search.report import find_optimum, search_report
from tests.orchestration.search_fakes import made_search

RANGE = (0.01, 1.0)
POINTS = {400: 5.0, 800: 4.0}


def parabola(rates, best=0.1, noise=0.0, seed=0):
    generator = np.random.default_rng(seed)
    return [
        (float(rate), 3.0 + 0.05 * np.log(rate / best) ** 2 + noise * generator.standard_normal()) for rate in rates
    ]


def test_without_noise_the_lowest_point_is_exact_and_sure():
    pairs = parabola(np.geomspace(*RANGE, 9))
    found, again = find_optimum(pairs, RANGE), find_optimum(pairs[::-1], RANGE)
    assert (found.rate, found.interval) == (again.rate, again.interval), "the order does not matter"
    assert found.rate == pytest.approx(0.1) and found.nats == pytest.approx(3.0)
    assert found.interval.high / found.interval.low < 1.2 and not found.at_edge
    assert np.all(found.low <= found.curve + 1e-9) and np.all(found.curve <= found.high + 1e-9)
    assert np.all(np.diff(found.rates) > 0) and len(found.rates) == len(found.curve) == len(found.low)


def test_the_curve_is_nearer_than_the_best_trial_and_its_interval_holds_the_truth(monkeypatch):
    rates = np.geomspace(0.03, 0.3, 16)
    monkeypatch.setattr(report, "RESAMPLES", 200)
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


def tried(number: int, rate: float, state: str, nats: float | None = None) -> Tried:
    return Tried(number, rate, state, f"{number:016x}", nats, {**POINTS, **({1200: nats + 0.001} if nats else {})})


def six(*others) -> list[Tried]:
    levels = {0.02: 3.2, 0.05: 3.03, 0.064: 3.02, 0.1: 3.0, 0.2: 3.04, 0.4: 3.3}
    return [*(tried(number, rate, "done", nats) for number, (rate, nats) in enumerate(levels.items())), *others]


def test_the_table_goes_by_rate_and_says_how_far_each_trial_came():
    table = table_of(search_report(made_search(), six(tried(6, 0.3, "pruned"))))
    rates = [row.cells["rate"].value for row in table.rows]
    assert rates == sorted(rates)
    given_up = next(row.cells for row in table.rows if row.cells["state"].value == "pruned")
    assert (given_up["state"].text, given_up["samples"].text, given_up["nats"].text) == ("given up", "800", "4.0000")
