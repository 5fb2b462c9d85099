"""Verdicts on effects, in words: does it help? Those on claims: `reports.claims.verdicts`."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Literal, TypeVar

from scipy.stats import false_discovery_control

from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS, Better
from reports.stats.estimates import Effect

Direction = Literal["decrease", "increase", "no_change"]
Key = TypeVar("Key", bound=Hashable)

GONE = ("outlier_ratio", "outlier_level")
"""Thresholds that studies of version 0.1 wrote down."""


@dataclass(frozen=True)
class Thresholds:
    """Every number that a verdict depends on; written to the study file before its first trial.

    alpha: the largest q of helps and hurts; equivalence_level: of the interval that must lie within ±delta for a claim
    of no effect (1 - 2 alpha: two one-sided tests); min_seeds: runs on either side, below which an effect is
    underpowered; smallest_*: the least delta by unit of the metric (nats; shares of 1, as top-1; places of the played
    move's rank); claim_share: delta is at least this share of the claim; noise_weight: degrees of freedom that the
    noise of other comparisons has at most beside a comparison's own (`reports.stats.model`); power: see
    `reports.stats.power`.
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
    LEANS_HELPING = "leans to helping"
    LEANS_HURTING = "leans to hurting"
    NOT_SHOWN = "not shown"
    UNDERPOWERED = "underpowered"
    UNFINISHED = "unfinished"
    NOT_A_RESULT = "not a result"


SHOWN = (EffectVerdict.HELPS, EffectVerdict.HURTS)
LEANING = (EffectVerdict.LEANS_HELPING, EffectVerdict.LEANS_HURTING)


def with_q(effects: Mapping[Key, Effect], thresholds: Thresholds) -> dict[Key, Effect]:
    """The effects of a page on one metric with their q: Benjamini and Hochberg's (1995), over all that have a p and
    enough runs. Of the effects with q at most alpha, a share of at most alpha is expected to be null or of the other
    sign."""
    judged = [key for key, effect in effects.items() if effect.p is not None and effect.n >= thresholds.min_seeds]
    found = dict(zip(judged, discovery_rates([float(effects[key].p or 0.0) for key in judged]), strict=True))
    return {key: replace(effect, q=found.get(key)) for key, effect in effects.items()}


def discovery_rates(p: Sequence[float]) -> list[float]:
    """q of each p: the false discovery rate at which it is the last to be shown."""
    return list(map(float, false_discovery_control(p))) if len(p) else []


def judge_effect(effect: Effect, better: Better, thresholds: Thresholds) -> EffectVerdict:
    """The verdict in a table: helps or hurts where q is at most alpha; leaning where the interval leaves out 0 all the
    same."""
    if effect.q is None:
        return EffectVerdict.UNDERPOWERED
    helps = (effect.delta < 0) == (better == "lower")
    if effect.q <= thresholds.alpha and effect.delta != 0:
        return EffectVerdict.HELPS if helps else EffectVerdict.HURTS
    if effect.leaves_out_zero:
        return EffectVerdict.LEANS_HELPING if helps else EffectVerdict.LEANS_HURTING
    return EffectVerdict.NOT_SHOWN


def measured_direction(effect: Effect, margin: float, thresholds: Thresholds) -> Direction | None:
    """How the metric moved: increase or decrease where q is at most alpha; else no_change where the 90 % interval lies
    within ±margin; else None, not settled. Always None for an effect that is not judged."""
    if effect.q is None or effect.interval90 is None or effect.n < thresholds.min_seeds:
        return None
    if effect.q <= thresholds.alpha and effect.delta != 0:
        return "increase" if effect.delta > 0 else "decrease"
    return "no_change" if effect.interval90.within(margin) else None
