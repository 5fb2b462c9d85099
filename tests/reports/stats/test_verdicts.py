"""Verdicts drawn on a ruler: `[` and `]` the 95 % interval, `o` the estimate, `|` no difference; one character = 0.002
nats."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from gonn_core.errors import SettingError
from reports.claims.verdicts import ClaimVerdict
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import (
    EffectVerdict,
    Thresholds,
    counted,
    discovery_rates,
    judge_effect,
    measured_direction,
    with_q,
)
from tests.reports.stats.checks import made_effect

THRESHOLDS = Thresholds()
UNIT = 0.002


def drawn(ruler: str, q: float | None = 0.01) -> Effect:
    """The effect drawn on a ruler; the 90 % interval is 0.8 times the 95 % one."""
    zero = ruler.index("|")
    low, high, delta = ((ruler.index(mark) - zero) * UNIT for mark in "[]o")
    shrunk = Interval(delta - 0.8 * (delta - low), delta + 0.8 * (high - delta))
    return made_effect(0.01, q=q, delta=delta, interval95=Interval(low, high), interval90=shrunk)


@pytest.mark.parametrize(
    ("ruler", "q", "lower", "higher"),
    [
        ("[  o  ]   |         ", 0.05, EffectVerdict.HELPS, EffectVerdict.HURTS),
        ("          |  [ o ]  ", 0.01, EffectVerdict.HURTS, EffectVerdict.HELPS),
        ("[  o  ]   |         ", 0.051, EffectVerdict.LEANS_HELPING, EffectVerdict.LEANS_HURTING),
        ("          |  [ o ]  ", 0.9, EffectVerdict.LEANS_HURTING, EffectVerdict.LEANS_HELPING),
        ("       [  o|  ]     ", 0.06, EffectVerdict.NOT_SHOWN, EffectVerdict.NOT_SHOWN),
        ("[  o  ]   |         ", None, EffectVerdict.UNDERPOWERED, EffectVerdict.UNDERPOWERED),
    ],
)
def test_q_alone_shows_and_the_interval_alone_leans(ruler, q, lower, higher):
    assert judge_effect(drawn(ruler, q), "lower", THRESHOLDS) is lower
    assert judge_effect(drawn(ruler, q), "higher", THRESHOLDS) is higher


def slow_benjamini_hochberg(p: list[float]) -> list[float]:
    """The least false discovery rate among all cuts at or above each p."""
    return [min([1.0, *(cut * len(p) / sum(each <= cut for each in p) for cut in p if cut >= own)]) for own in p]


@pytest.mark.parametrize("count", [1, 2, 7, 160])
def test_q_is_benjamini_and_hochbergs(count):
    p = (np.random.default_rng(count).random(count) ** 3).tolist()
    p[-1] = p[0]
    assert discovery_rates(p) == pytest.approx(slow_benjamini_hochberg(p))


def test_q_counts_only_effects_with_a_p_and_enough_runs():
    effects = {"a": made_effect(0.02), "few": made_effect(0.001, n=2), "none": made_effect(None), "b": made_effect(0.5)}
    found = with_q(effects, THRESHOLDS)
    assert {name: each.q for name, each in found.items()} == {"a": 0.04, "few": None, "none": None, "b": 0.5}
    assert with_q({"a": effects["a"]}, THRESHOLDS)["a"].q == 0.02 and discovery_rates([]) == []


def test_a_direction_is_that_of_what_is_shown_or_none_within_the_margin():
    assert measured_direction(drawn("[  o  ]   |         "), 0.002, THRESHOLDS) == "decrease"
    assert measured_direction(drawn("[  o  ]   |         ", 0.2), 0.002, THRESHOLDS) is None
    assert measured_direction(drawn("       [  o|  ]     ", 0.2), 0.009, THRESHOLDS) == "no_change"
    assert measured_direction(drawn("       [  o|  ]     ", None), 0.009, THRESHOLDS) is None


def test_what_is_not_shown_is_smaller_than_the_farther_end_of_the_90_percent_interval():
    effect = drawn("       [  o|  ]     ")
    assert effect.bound == max(abs(effect.interval90.low), abs(effect.interval90.high)) > abs(effect.delta)
    assert replace(effect, interval90=None).bound is None


def test_withdrawn_thresholds_are_ignored_and_unknown_ones_refused():
    stored = {name: float(value) for name, value in THRESHOLDS.model_dump().items() if name != "noise_weight"}
    read = Thresholds.model_validate({**stored, "outlier_ratio": 10.0, "outlier_level": 0.01})
    assert read == THRESHOLDS and isinstance(read.min_seeds, int)
    with pytest.raises(ValidationError):
        Thresholds.model_validate({**stored, "fancy": 1.0})


def test_margin_is_a_quarter_of_the_claim_but_not_less_than_the_smallest_effect():
    assert THRESHOLDS.margin("nats") == 0.002 and THRESHOLDS.margin("nats", -0.004) == 0.002
    assert THRESHOLDS.margin("nats", -0.1) == pytest.approx(0.025)
    with pytest.raises(SettingError, match="valid: .*nats, .*probability, .*rank, .*top1"):
        THRESHOLDS.margin("elo")


def test_verdicts_are_counted_in_their_order_in_the_plural():
    found = [EffectVerdict(word) for word in ("not shown", "helps", "leans to helping", "leans to helping")]
    assert counted(found) == "1 helps, 2 lean to helping, 1 not shown"
    assert counted([ClaimVerdict.COUNT_AGREES] * 2) == "2 counts agree"
