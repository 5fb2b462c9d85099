"""Verdicts on claims drawn on a ruler: `[` and `]` the 95 % interval, `|` no difference, the estimate in the middle;
one character = 0.002 nats."""

from dataclasses import replace

import numpy as np
import pytest

from reports.claims.verdicts import ClaimedEffect, ClaimVerdict, judge_claim, judge_claims
from reports.stats.estimates import Effect, EvaluationNoise, effect_of, quantile
from reports.stats.verdicts import Thresholds

THRESHOLDS = Thresholds()
UNIT, DF = 0.002, 9.0
REPLICATED, CONSISTENT, CONTRADICTED = ClaimVerdict.REPLICATED, ClaimVerdict.CONSISTENT, ClaimVerdict.CONTRADICTED
SMALLER, LARGER, NOT_SHOWN = ClaimVerdict.SMALLER, ClaimVerdict.LARGER, ClaimVerdict.NOT_SHOWN


def drawn(ruler: str, n: int = 5, zero: int | None = None) -> Effect:
    """The effect drawn on a ruler, with the p that its interval has."""
    zero = ruler.index("|") if zero is None else zero
    low, high = ((ruler.index(mark) - zero) * UNIT for mark in "[]")
    return around((low + high) / 2, (high - low) / 2, n)


def around(delta: float, half: float, n: int = 5) -> Effect:
    """An effect with half a 95 % interval; q is p."""
    of_seeds = (half / quantile(0.975, DF)) ** 2, DF
    effect = effect_of("t", delta, of_seeds, EvaluationNoise(0.0, 0.0, 2), (n, n))
    return replace(effect, q=effect.p)


def judged(effect: Effect, claim: ClaimedEffect, **options):
    return judge_claim(effect, claim, THRESHOLDS.margin("nats", claim.size), THRESHOLDS, **options)


VALUE = ClaimedEffect("decrease", -0.024, -0.024)


@pytest.mark.parametrize(
    ("ruler", "verdict"),
    [
        ("             [ ]          |            ", REPLICATED),
        ("            [   ]         |            ", REPLICATED),
        ("          [      ]        |            ", CONSISTENT),
        ("           [           ]  |            ", CONSISTENT),
        ("  [                      ]|            ", CONSISTENT),
        ("  [         ]             |            ", CONSISTENT),
        ("  [     ]                 |            ", LARGER),
        ("                  [     ] |            ", SMALLER),
        ("                  [       | ]          ", SMALLER),
        ("                     [    |  ]         ", SMALLER),
        ("                     [    |     ]      ", NOT_SHOWN),
        ("                     [    |    ]       ", NOT_SHOWN),
        ("                         [| ]          ", CONTRADICTED),
        ("                          |    [    ]  ", CONTRADICTED),
        ("           [              |   ]        ", NOT_SHOWN),
        ("  [                       |   ]        ", NOT_SHOWN),
        ("            [             |          ] ", NOT_SHOWN),
    ],
)
def test_claimed_values(ruler, verdict):
    """The zone is 9 to 15 characters left of the bar."""
    assert judged(drawn(ruler), VALUE).verdict is verdict


def test_an_estimate_of_the_other_sign_is_never_smaller_than_claimed():
    for delta in np.linspace(-0.08, 0.08, 65):
        for half in (0.0005, 0.002, 0.01, 0.04):
            effect = around(float(delta), half)
            for tests in (1, 7):
                verdict = judged(effect, VALUE, tests=tests).verdict
                assert delta < 0 or verdict in (CONTRADICTED, NOT_SHOWN)
                assert verdict is not REPLICATED or -0.03 < delta < -0.018


def test_what_is_not_shown_among_others_replicates_nothing():
    wide = ClaimedEffect("decrease", -0.05, -0.004)
    effect = around(-0.02, 0.018)
    assert judged(effect, wide).verdict is CONSISTENT
    assert judged(replace(effect, q=0.2), wide).verdict is NOT_SHOWN
    assert judged(replace(around(-0.06, 0.02), q=0.06), VALUE).verdict is NOT_SHOWN


def test_ranges_open_and_closed():
    closed = ClaimedEffect("decrease", -0.030, -0.010)
    assert closed.size == pytest.approx(0.020)
    assert judged(around(-0.020, 0.012), closed).verdict is REPLICATED
    at_least = ClaimedEffect("decrease", float("-inf"), -0.010)
    assert at_least.size == 0.010
    assert judged(around(-0.1, 0.09), at_least).verdict is REPLICATED
    assert judged(around(-0.1, 0.095), at_least).verdict is CONSISTENT
    assert judged(around(-0.003, 0.002), at_least).verdict is SMALLER
    assert judged(around(0.003, 0.004), at_least).verdict is NOT_SHOWN


@pytest.mark.parametrize(
    ("ruler", "direction", "verdict"),
    [
        ("[   ]   |        ", "decrease", REPLICATED),
        ("[   ]   |        ", "increase", CONTRADICTED),
        ("[   ]   |        ", "no_change", CONTRADICTED),
        ("        |        [   ]", "increase", REPLICATED),
        ("   [     |  ]   ", "decrease", NOT_SHOWN),
        ("   [     |  ]   ", "no_change", NOT_SHOWN),
    ],
)
def test_directions_without_a_value(ruler, direction, verdict):
    assert judged(drawn(ruler), ClaimedEffect(direction)).verdict is verdict


def test_no_effect_decides_claims_of_direction():
    effect = around(0.0, 0.0012)
    assert judged(effect, ClaimedEffect("no_change")).verdict is REPLICATED
    assert judged(effect, ClaimedEffect("decrease")).verdict is CONTRADICTED


def test_no_change_is_what_the_document_found_too_little_to_speak_of():
    """A range of its own that is wider than the margin, such as that of 600 games, is the zone."""
    wide, narrow = ClaimedEffect("no_change", -0.009, 0.006), ClaimedEffect("no_change", 0.0, 0.001)

    def of(claim, low, high):
        return judge_claim(around((low + high) / 2, (high - low) / 2), claim, 0.002, THRESHOLDS).verdict

    assert of(wide, -0.0085, 0.0055) is REPLICATED
    assert of(narrow, -0.0085, 0.0055) is NOT_SHOWN and of(narrow, -0.0018, 0.0018) is REPLICATED
    assert of(wide, -0.012, -0.004) is NOT_SHOWN
    assert of(wide, -0.020, -0.010) is CONTRADICTED
    assert of(narrow, -0.010, -0.004) is CONTRADICTED


def test_beside_other_claims_the_interval_is_wider():
    """What fits into the zone alone does not among seven; the note says at which level."""
    effect = around(-0.024, 0.0055)
    alone, among = judged(effect, VALUE), judged(effect, VALUE, tests=7)
    assert alone.verdict is REPLICATED and alone.note.startswith("95 % ")
    assert among.verdict is CONSISTENT and among.note.startswith("99.29 % ")
    half = float(quantile(1 - 0.025 / 7, DF) / quantile(0.975, DF)) * 0.0055
    assert effect.interval(1 - 0.05 / 7).high == pytest.approx(-0.024 + half)


def test_what_is_not_judged():
    claim = ClaimedEffect("decrease", -0.024, -0.024, differs=("samples", "base"))
    other = judged(drawn("                           |  [   ] "), claim)
    assert other.verdict is ClaimVerdict.NOT_TESTED and "samples, base" in other.note and "increase" in other.note
    assert "same direction" in judged(drawn("[   ] |"), claim).note
    memory = replace(claim, from_memory=True)
    assert judged(drawn("[   ] |"), memory).verdict is ClaimVerdict.COMPARED
    assert judged(drawn("[   ] |", n=2), VALUE).verdict is ClaimVerdict.UNDERPOWERED


# Levels: of one arm, and of several layers


@pytest.mark.parametrize(
    ("level", "half", "verdict"),
    [
        (0.40, 0.05, REPLICATED),
        (0.40, 0.2, CONSISTENT),
        (0.40, 0.5, NOT_SHOWN),
        (0.70, 0.1, LARGER),
        (0.10, 0.05, SMALLER),
    ],
)
def test_levels(level, half, verdict):
    """0.4 is claimed of an arm, a share: the zone is 0.3 to 0.5. There is no direction to be wrong in."""
    for direction in ("increase", "decrease"):
        claim = ClaimedEffect(direction, 0.4, 0.4, of_level=True)
        assert judge_claim(around(level, half), claim, 0.1, THRESHOLDS).verdict is verdict


def test_layers_have_the_verdict_that_all_of_them_have():
    claims = [VALUE] * 2

    def of(*pairs):
        return judge_claims([around(*pair) for pair in pairs], claims, 0.006, THRESHOLDS)

    good, middling, long = (-0.024, 0.005), (-0.02, 0.015), (-0.06, 0.01)
    assert of(good, good).verdict is REPLICATED and of(good, middling).verdict is CONSISTENT
    mixed = of(good, long)
    assert mixed.verdict is NOT_SHOWN
    aside = [replace(claim, differs=("samples",)) for claim in claims]
    found = judge_claims([around(*good)] * 2, aside, 0.006, THRESHOLDS)
    assert found.verdict is ClaimVerdict.NOT_TESTED and found.note.count("samples") == 1
