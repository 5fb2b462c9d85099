"""The most telling cases of `benchmarks/error_rates.py`, smaller: each keeps its bars but for four standard errors of
its own simulation. Seeds are fixed, so a test that passes once passes until the decisions change."""

import dataclasses

import pytest

from benchmarks.error_rates import cells
from tests.error_rates.all_cases import CASES
from tests.error_rates.rates import Bar, Case, run_case

TABLES = {
    "1 alone, n=3": 105,
    "6 alone, n=4": 56,
    "6 alone, n=4, one 3x as noisy": 70,
    "6 alone, n=4, 20 games, half of the noise": 35,
    "32 single runs, interactions": 10,
    "32 single runs, many changes 3x as noisy": 12,
    "two runs an arm, interactions": 6,
    "two runs an arm, interactions, many changes 3x as noisy": 6,
    "two runs an arm, interactions, a level 3x as noisy": 6,
    "screen of 32 single runs alone": 28,
    "12 alone and a 2 x 2": 7,
    "30 of 5 bases, nothing": 10,
    "160 of 8 bases, 80 % nothing": 4,
    "1 cards, the first 0": 35,
    "5 cards, the first 0, the first 3x as noisy": 14,
    "truth -0.04, claim -.04, n=8": 56,
    "truth -0.03, claim -.04, n=8": 70,
    "truth +0, claim of no change, n=4": 70,
    "a card of 6 claims of a decrease, truths +0, n=4": 21,
    "bound of a truth of 0.02, 1 alone, n=4": 70,
    "win rate 0.5, sd between seeds 0.15, n=3": 420,
}


@pytest.mark.parametrize("name", TABLES)
def test_bars_are_kept(name):
    (case,) = (case for case in CASES if case.name == name)
    rates = run_case(case, TABLES[name], seed=0)
    assert rates and all(rate.keeps(errors=4.0) for rate in rates), [cells(rate) for rate in rates]


def test_bars_allow_for_chance_but_not_for_what_must_never_be():
    never, seldom = Bar(most=0.0), Bar(most=0.05)
    half = Case("0", "one in ten", lambda generator: {"hit": generator.random() < 0.1}, {"hit": seldom})
    few, many = (run_case(half, tables, seed=0)[0] for tables in (20, 2000))
    assert few.keeps() and not many.keeps() and many.error == pytest.approx((0.1 * 0.9 / 2000) ** 0.5, rel=0.1)
    assert not run_case(dataclasses.replace(half, bars={"hit": never}), 100, seed=0)[0].keeps()
