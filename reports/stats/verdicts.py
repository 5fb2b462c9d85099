"""Verdicts on effects, in words: does it help? Those on claims: `reports.stats.claim_verdicts`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Literal

from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS, Better
from reports.stats.estimates import Effect

Direction = Literal["decrease", "increase", "no_change"]

GONE = ("outlier_ratio", "outlier_level")
"""Thresholds that studies of version 0.1 wrote down."""


@dataclass(frozen=True)
class Thresholds:
    """Every number that a verdict depends on; written to the study file before its first trial.

    alpha: two-sided level of helps/hurts after adjusting for the family; equivalence_level: of the interval that must
    lie within ±delta for `no effect` (1 - 2 alpha: two one-sided tests); min_seeds: below it an effect is underpowered;
    smallest_*: the least delta by unit of the metric (nats; shares of 1, as top-1; places of the played move's rank);
    claim_share: delta is at least this share of the claim; noise_weight: degrees of freedom that the pooled seed noise
    has at most beside a toggle's own (`reports.stats.seed_noise`); power: see `reports.stats.power`.
    """

    alpha: float = 0.05
    equivalence_level: float = 0.90
    min_seeds: int = 3
    smallest_nats: float = 0.002
    smallest_share: float = 0.001
    smallest_rank: float = 0.05
    claim_share: float = 0.25
    noise_weight: float = 2.0
    power: float = 0.80

    @classmethod
    def of_study(cls, stored: Mapping[str, float]) -> "Thresholds":
        """As a study's file holds them, all as floats; those of version 0.1 that there are no more are of no account.
        Raises ValueError for others that this version does not know."""
        known = {name: value for name, value in stored.items() if name not in GONE}
        if unknown := known.keys() - {field.name for field in fields(cls)}:
            raise ValueError(f"unknown thresholds: {', '.join(sorted(unknown))}")
        values: dict[str, Any] = {**known, "min_seeds": int(stored["min_seeds"])}
        return cls(**values)

    def smallest(self, metric: str) -> float:
        """The least difference of `metric` that counts as an effect, in its unit; SettingError for a metric without
        one."""
        margin = METRICS[metric].margin if metric in METRICS else None
        if margin is None:
            known = sorted(name for name, each in METRICS.items() if each.margin is not None)
            raise SettingError("metric", metric, "no smallest effect is set for it", known)
        return getattr(self, margin) if isinstance(margin, str) else margin

    def margin(self, metric: str, claim: float | None = None) -> float:
        """delta = max(smallest effect, |claim| / 4)."""
        return max(self.smallest(metric), self.claim_share * abs(claim or 0.0))


class EffectVerdict(StrEnum):
    HELPS = "helps"
    HURTS = "hurts"
    NO_EFFECT = "no effect"
    NOT_SHOWN = "not shown"
    UNDERPOWERED = "underpowered"
    UNFINISHED = "unfinished"
    NOT_A_RESULT = "not a result"


def measured_direction(effect: Effect, margin: float, thresholds: Thresholds) -> Direction | None:
    """How the metric moved: increase or decrease where the adjusted p is below alpha (at a planned look: below the
    level of the look), whatever the size; else no_change where the 90 % interval lies within ±margin; else None, not
    settled. Always None with fewer than `min_seeds`."""
    if effect.n < thresholds.min_seeds or effect.p_adjusted is None:
        return None
    if effect.p_adjusted < (thresholds.alpha if effect.level is None else effect.level) and effect.delta != 0:
        return "increase" if effect.delta > 0 else "decrease"
    assert effect.interval90 is not None, "what has a p has an interval"
    return "no_change" if effect.interval90.within(margin) else None


def judge_effect(effect: Effect, better: Better, margin: float, thresholds: Thresholds) -> EffectVerdict:
    """The verdict in a table: `measured_direction` in the sense of the metric.

    An effect may be both significant and within the margin: it is then named by its sign (the table shows how small it
    is).
    """
    if effect.n < thresholds.min_seeds or effect.p_adjusted is None:
        return EffectVerdict.UNDERPOWERED
    direction = measured_direction(effect, margin, thresholds)
    if direction is None:
        return EffectVerdict.NOT_SHOWN
    if direction == "no_change":
        return EffectVerdict.NO_EFFECT
    return EffectVerdict.HELPS if (direction == "decrease") == (better == "lower") else EffectVerdict.HURTS
