"""The most telling cases of `benchmarks/error_rates.py`, smaller: each keeps its bars but for four standard errors of
its own simulation. Seeds are fixed, so a test that passes once passes until the decisions change."""

import dataclasses

import numpy as np
import pytest

from benchmarks.error_rates import cells, main, markdown
from tests.error_rates import growing, pages
from tests.error_rates.all_cases import CASES
from tests.error_rates.rates import Bar, Case, named, run_case

TABLES = {
    "seeds dominate, n=3, T=1": 800,
    "seeds dominate, n=4, T=1": 800,
    "seeds dominate, n=4, T=5": 250,
    "20 unequal games, half and half, n=4, T=3": 250,
    "a treatment 3x as noisy, n=4, T=5": 300,
    "control 3x as noisy, n=4, T=5": 150,
    "truth -0.04, claim -.04, n=8": 300,
    "truth -0.03, claim -.04, n=8": 400,
    "truth +0.01, claim -.01, n=8": 400,
    "truth +0, claim of no change, n=4": 400,
    "a card of 6 claims of a decrease, truths +0, n=4": 100,
    "no effect at a truth of 0.002, sd of a run 0.001, n=4": 400,
    "bound of a truth of 0.02, n=4, T=1": 400,
    "win rate 0.5, sd between seeds 0.15, n=3": 1000,
    "5 singles and a triple": 120,
    "4 to 8 seeds by 1, T=1": 400,
    "4 to 8 seeds by 1, T=5": 50,
    "a toggle of 0, futility 0.02, with a pool": 120,
    "a toggle of 0.02 beside 4 of 0": 12,
    "8 cards in 32 runs, interactions 0.004, one effect 0": 120,
    "8 cards in 16 runs, interactions 0, one effect 0": 120,
    "strings of 8 cards in 32 runs, interactions 0": 100,
    "one model, single runs, interactions": 60,
    "one model, two runs, a level 3x as noisy": 20,
}


@pytest.mark.parametrize("name", TABLES)
def test_bars_are_kept(name):
    (case,) = (case for case in CASES if case.name == name)
    rates = run_case(case, TABLES[name], seed=0)
    assert rates and all(rate.keeps(errors=4.0) for rate in rates), [cells(rate) for rate in rates]


def test_cases_have_names_of_their_own_and_tell_what_they_ask():
    assert len({(case.group, case.name) for case in CASES}) == len(CASES)
    for case in named(CASES, ["n=2, T=1", "sd between seeds 0, n=3"]):
        assert case.draw(np.random.default_rng(0)).keys() >= case.bars.keys()


def test_a_page_of_five_bases_keeps_its_bar():
    """And so does each base of it by itself."""
    (case,) = (case for case in CASES if case.name == "17 toggles in 10 studies on 5 bases")
    rates = {rate.question: rate for rate in run_case(case, 50, seed=0)}
    assert rates[pages.OF_A_BASE].keeps(errors=4.0) and rates[pages.ON_PAGE].keeps(errors=4.0)


@pytest.mark.parametrize(
    ("name", "question", "tables"),
    [("8 singles", pages.OWN, 80), ("3 to 8 seeds by 1, T=1", growing.WITHOUT, 300)],
)
def test_what_the_audit_found_is_found_where_its_cure_is_left_out(name, question, tables):
    """Studies of a page each by itself, looks at alpha each time: a bar of 5.5 % can fail."""
    (case,) = (case for case in CASES if case.name == name)
    case = dataclasses.replace(case, bars={question: Bar(most=0.055)})
    assert not run_case(case, tables, seed=0)[0].keeps()


def test_bars_allow_for_chance_but_not_for_what_must_never_be():
    never, seldom = Bar(most=0.0), Bar(most=0.05)
    half = Case("0", "one in ten", lambda generator: {"hit": generator.random() < 0.1}, {"hit": seldom})
    few, many = (run_case(half, tables, seed=0)[0] for tables in (20, 2000))
    assert few.keeps() and not many.keeps() and many.error == pytest.approx((0.1 * 0.9 / 2000) ** 0.5, rel=0.1)
    assert not run_case(dataclasses.replace(half, bars={"hit": never}), 100, seed=0)[0].keeps()


def test_a_case_alone_has_the_same_figures_as_among_others(tmp_path, capsys):
    out = tmp_path / "rates.md"
    assert main(["--tables", "60", "--seed", "3", "--markdown", str(out), "win rate 0.6", "n=2, T=1"]) == 0
    text = out.read_text()
    assert "--tables 60 --seed 3 'win rate 0.6' 'n=2, T=1'" in text and "| 92.3 |" in text
    (case,) = (case for case in CASES if case.name == "win rate 0.6, sd between seeds 0.08, n=4")
    (rate,) = run_case(case, 60, seed=3)
    assert " | ".join(cells(rate)) in text and markdown([rate], "x").count("\n| 1.4") == 1
    assert "0 beyond their bars" in capsys.readouterr().out
