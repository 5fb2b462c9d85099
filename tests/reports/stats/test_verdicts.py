"""Verdicts drawn on a ruler: `[` and `]` the 95 % interval, `o` the estimate, `|` no difference; one character = 0.002
nats."""

from dataclasses import replace

import pytest

from gonn_core.errors import SettingError
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import EffectVerdict, Thresholds, judge_effect
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


def test_thresholds_survive_a_study_file_of_floats():
    again = Thresholds.of_study({name: float(value) for name, value in vars(THRESHOLDS).items()})
    assert again == THRESHOLDS and isinstance(again.min_seeds, int)


def test_margin_is_a_quarter_of_the_claim_but_not_less_than_the_smallest_effect():
    assert THRESHOLDS.margin("nats") == 0.002 and THRESHOLDS.margin("nats", -0.004) == 0.002
    assert THRESHOLDS.margin("nats", -0.1) == pytest.approx(0.025)
    with pytest.raises(SettingError, match="valid: .*nats, .*probability, .*rank, .*top1"):
        THRESHOLDS.margin("elo")
