"""Verdicts drawn on a ruler: `[` and `]` the 95 % interval, `o` the estimate, `|` no difference; one character = 0.002
nats."""

from dataclasses import replace

import pytest

from gonn_core.errors import SettingError
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import ClaimedEffect, ClaimVerdict, EffectVerdict, Thresholds, judge_claim, judge_effect
from tests.reports.stats.checks import made_effect

THRESHOLDS = Thresholds()
UNIT = 0.002


def drawn(ruler: str, n: int = 5) -> Effect:
    """The effect drawn on a ruler; the 90 % interval is 0.8 times the 95 % one; significant when `|` is outside the
    brackets."""
    zero = ruler.index("|")
    low, high, delta = ((ruler.index(mark) - zero) * UNIT for mark in "[]o")
    p = 0.01 if low > 0 or high < 0 else 0.5
    shrunk = Interval(delta - 0.8 * (delta - low), delta + 0.8 * (high - delta))
    return made_effect(p, n, delta=delta, interval95=Interval(low, high), interval90=shrunk)


@pytest.mark.parametrize(
    ("ruler", "verdict"),
    [
        ("[  o  ]   |         ", EffectVerdict.HELPS),
        ("          |  [ o ]  ", EffectVerdict.HURTS),
        ("       [  o|  ]     ", EffectVerdict.NOT_SHOWN),
        (" [        o| ]      ", EffectVerdict.NOT_SHOWN),
    ],
)
def test_effects(ruler, verdict):
    assert judge_effect(drawn(ruler), "lower", THRESHOLDS.margin("nats"), THRESHOLDS) is verdict


def test_no_effect_needs_a_narrow_interval():
    assert judge_effect(drawn("   [o|  ]  "), "lower", 0.0050, THRESHOLDS) is EffectVerdict.NO_EFFECT
    assert judge_effect(drawn("   [o|  ]  "), "lower", 0.0025, THRESHOLDS) is EffectVerdict.NOT_SHOWN


def test_better_turns_the_sign():
    assert judge_effect(drawn("| [ o ]"), "higher", 0.001, THRESHOLDS) is EffectVerdict.HELPS


def test_two_seeds_are_never_enough():
    assert judge_effect(drawn("[o]     |", n=2), "lower", 0.002, THRESHOLDS) is EffectVerdict.UNDERPOWERED


def test_significant_before_adjusting_only_is_no_verdict():
    effect = replace(drawn("[  o  ]   |"), p=0.03, p_adjusted=0.06)
    assert judge_effect(effect, "lower", 0.002, THRESHOLDS) is EffectVerdict.NOT_SHOWN


def test_what_is_not_shown_is_smaller_than_the_farther_end_of_the_90_percent_interval():
    effect = drawn("       [  o|  ]     ")
    assert effect.bound == max(abs(effect.interval90.low), abs(effect.interval90.high)) > abs(effect.delta)
    assert replace(effect, interval90=None).bound is None


def test_thresholds_of_version_0_1_are_read_and_unknown_ones_refused():
    stored = {name: float(value) for name, value in vars(THRESHOLDS).items() if name != "noise_weight"}
    old = {**stored, "outlier_ratio": 10.0, "outlier_level": 0.01}
    assert Thresholds.of_study(old) == THRESHOLDS
    with pytest.raises(ValueError, match="unknown thresholds: fancy"):
        Thresholds.of_study({**stored, "fancy": 1.0})


def judged(ruler: str, claim: ClaimedEffect, n: int = 5):
    margin = THRESHOLDS.margin("nats", claim.size)
    return judge_claim(drawn(ruler, n), claim, margin, THRESHOLDS)


# The claim: 0.024 nats better, delta = 0.006, so the zone is 9 to 15 characters left of the bar.
VALUE = ClaimedEffect("decrease", -0.024, -0.024)


@pytest.mark.parametrize(
    ("ruler", "verdict"),
    [
        # zone ======= here
        ("              [  o  ]      |        ", ClaimVerdict.REPLICATED),
        ("  [   o  ]                 |        ", ClaimVerdict.LARGER),
        ("                     [ o ] |        ", ClaimVerdict.SMALLER),
        ("                    [  o   |]       ", ClaimVerdict.SMALLER),
        ("                         [o|]       ", ClaimVerdict.CONTRADICTED),
        ("                           |  [ o ] ", ClaimVerdict.CONTRADICTED),
        ("           [           o   |   ]    ", ClaimVerdict.NOT_SHOWN),
        ("            [        o    ]|        ", ClaimVerdict.NOT_SHOWN),
    ],
)
def test_claimed_values(ruler, verdict):
    assert judged(ruler, VALUE).verdict is verdict


def test_ranges_open_and_closed():
    closed = ClaimedEffect("decrease", -0.030, -0.010)
    assert closed.size == pytest.approx(0.020)
    assert judged("              [  o  ]      |", closed).verdict is ClaimVerdict.REPLICATED
    at_least = ClaimedEffect("decrease", float("-inf"), -0.010)
    assert at_least.size == 0.010
    assert judged("[  o ]                     |", at_least).verdict is ClaimVerdict.REPLICATED


@pytest.mark.parametrize(
    ("ruler", "direction", "verdict"),
    [
        ("[ o ]   |        ", "decrease", ClaimVerdict.REPLICATED),
        ("[ o ]   |        ", "increase", ClaimVerdict.CONTRADICTED),
        ("[ o ]   |        ", "no_change", ClaimVerdict.CONTRADICTED),
        ("        |        [ o ]", "increase", ClaimVerdict.REPLICATED),
        ("   [    o|   ]   ", "decrease", ClaimVerdict.NOT_SHOWN),
        ("   [    o|   ]   ", "no_change", ClaimVerdict.NOT_SHOWN),
    ],
)
def test_directions_without_a_value(ruler, direction, verdict):
    assert judged(ruler, ClaimedEffect(direction)).verdict is verdict


def test_no_effect_decides_claims_of_direction():
    effect = replace(
        drawn("[o|  ]"), delta=0.0, interval95=Interval(-0.0012, 0.0012), interval90=Interval(-0.001, 0.001)
    )
    assert judge_claim(effect, ClaimedEffect("no_change"), 0.002, THRESHOLDS).verdict is ClaimVerdict.REPLICATED
    assert judge_claim(effect, ClaimedEffect("decrease"), 0.002, THRESHOLDS).verdict is ClaimVerdict.CONTRADICTED


def test_no_change_is_what_the_document_found_too_little_to_speak_of():
    """A range of its own that is wider than the margin, such as that of 600 games, is the zone."""
    wide, narrow = ClaimedEffect("no_change", -0.009, 0.006), ClaimedEffect("no_change", 0.0, 0.001)

    def of(claim, low, high):
        ends = {
            "interval95": Interval(low, high),
            "interval90": Interval(low, high),
            "delta": (low + high) / 2,
            "p_adjusted": 0.001,
        }
        return judge_claim(replace(drawn("[o|  ]"), **ends), claim, 0.002, THRESHOLDS).verdict

    assert of(wide, -0.008, 0.005) is ClaimVerdict.REPLICATED
    assert of(narrow, -0.008, 0.005) is ClaimVerdict.NOT_SHOWN and of(narrow, -0.001, 0.0015) is ClaimVerdict.REPLICATED
    assert of(wide, -0.010, -0.004) is ClaimVerdict.NOT_SHOWN
    assert of(wide, -0.020, -0.010) is ClaimVerdict.CONTRADICTED
    assert of(narrow, -0.010, -0.004) is ClaimVerdict.CONTRADICTED


def test_other_conditions_are_never_judged():
    claim = ClaimedEffect("decrease", -0.024, -0.024, differs=("samples", "base"))
    found = judged("                           |  [ o ] ", claim)
    assert (
        found.verdict is ClaimVerdict.NOT_TESTED
        and found.note == "differs from the claim in samples, base; here: increase"
    )
    assert "same direction" in judged("[ o ] |", claim).note
    assert "not settled" in judged("[ o | ]", claim).note


def test_memory_is_compared_and_never_judged():
    claim = ClaimedEffect("decrease", -0.024, -0.024, differs=("samples",), from_memory=True)
    assert judged("[ o ] |", claim).verdict is ClaimVerdict.COMPARED


def test_claims_need_seeds():
    assert judged("[ o ] |", VALUE, n=2).verdict is ClaimVerdict.UNDERPOWERED


def test_claims_that_contradict_themselves_are_refused():
    with pytest.raises(ValueError, match="is no decrease"):
        ClaimedEffect("decrease", 0.02, 0.02)
    with pytest.raises(ValueError, match="low <= high"):
        ClaimedEffect("decrease", -0.01, -0.02)
    with pytest.raises(ValueError, match="go together"):
        ClaimedEffect("decrease", -0.01)


def test_thresholds_survive_a_study_file_of_floats():
    again = Thresholds.of_study({name: float(value) for name, value in vars(THRESHOLDS).items()})
    assert again == THRESHOLDS and isinstance(again.min_seeds, int)


def test_margin_is_a_quarter_of_the_claim_but_not_less_than_the_smallest_effect():
    assert THRESHOLDS.margin("nats") == 0.002 and THRESHOLDS.margin("nats", -0.004) == 0.002
    assert THRESHOLDS.margin("nats", -0.1) == pytest.approx(0.025)
    with pytest.raises(SettingError, match="valid: .*nats, .*probability, .*rank, .*top1"):
        THRESHOLDS.margin("elo")
