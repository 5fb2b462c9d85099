"""Verdicts in words: on an effect (does it help?) and on a claim (does it agree with the document?)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Literal

from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS, Better
from reports.stats.estimates import Effect, Interval

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
        return cls(**{**known, "min_seeds": int(stored["min_seeds"])})

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


class ClaimVerdict(StrEnum):
    COMPARED = "compared only"
    NOT_TESTED = "not tested here"
    UNDERPOWERED = "underpowered"
    REPLICATED = "replicated"
    SMALLER = "smaller than claimed"
    LARGER = "larger than claimed"
    CONTRADICTED = "contradicted"
    NOT_SHOWN = "not shown"
    COUNT_AGREES = "count agrees"
    COUNT_DIFFERS = "count differs"


@dataclass(frozen=True)
class ClaimedEffect:
    """What a document says of one metric, as treatment - control in the metric's unit, set beside where it was
    measured.

    low, high: the claimed value (equal) or range (-inf or inf: open), None when only a direction is stated; direction:
    how the metric is said to move. differs: the conditions (see `ablations.claimed`) in which the measurement differs
    from the claim's, named.
    from_memory: the evidence is `unverified memory`.
    """

    direction: Direction
    low: float | None = None
    high: float | None = None
    differs: tuple[str, ...] = ()
    from_memory: bool = False

    def __post_init__(self):
        if self.low is None and self.high is None:
            return
        if self.low is None or self.high is None:
            raise ValueError("claim: low and high go together")
        if self.low > self.high or not any(map(math.isfinite, (self.low, self.high))):
            raise ValueError(f"claim: range {self.low} to {self.high}; want low <= high and one of them finite")
        if (self.direction == "decrease" and self.high > 0) or (self.direction == "increase" and self.low < 0):
            raise ValueError(f"claim: {self.low} to {self.high} is no {self.direction}")

    @property
    def size(self) -> float | None:
        """|claim| for delta: of the range's middle, or of its finite end; None when only a direction is stated."""
        if self.low is None or self.high is None:
            return None
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        return abs(sum(ends) / len(ends))


@dataclass(frozen=True)
class ClaimJudgement:
    """A verdict on a claim and why, in words for the table's footnote."""

    verdict: ClaimVerdict
    note: str


def measured_direction(effect: Effect, margin: float, thresholds: Thresholds) -> Direction | None:
    """How the metric moved: increase or decrease where the adjusted p is below alpha (at a planned look: below the
    level of the look), whatever the size; else no_change where the 90 % interval lies within ±margin; else None, not
    settled. Always None with fewer than `min_seeds`."""
    if effect.n < thresholds.min_seeds or effect.p_adjusted is None:
        return None
    if effect.p_adjusted < (thresholds.alpha if effect.level is None else effect.level) and effect.delta != 0:
        return "increase" if effect.delta > 0 else "decrease"
    return "no_change" if _intervals(effect)[1].within(margin) else None


def _intervals(effect: Effect) -> tuple[Interval, Interval]:
    """The 95 % and the 90 % one, which every effect with a p has."""
    assert effect.interval95 is not None and effect.interval90 is not None
    return effect.interval95, effect.interval90


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


def judge_claim(effect: Effect, claim: ClaimedEffect, margin: float, thresholds: Thresholds) -> ClaimJudgement:
    """Compares a measured effect with a claim; `margin` is `thresholds.margin(metric, claim.size)`.

    Not judged at all: claims from memory (`compared only`), claims made under other conditions (`not tested here`), too
    few seeds. A value is *replicated* when the effect is significant in the claimed direction and its estimate lies
    within the claim ± margin; *larger* or *smaller* when the 95 % interval lies wholly beyond or short of that zone;
    *contradicted* when the effect goes the other way, or is none and short of the zone. A stated direction is
    replicated or contradicted by the direction found.
    """
    direction = measured_direction(effect, margin, thresholds)
    if claim.from_memory:
        return ClaimJudgement(
            ClaimVerdict.COMPARED, f"claim from unverified memory; {_direction_note(direction, claim)}"
        )
    if claim.differs:
        note = f"differs from the claim in {', '.join(claim.differs)}; {_direction_note(direction, claim)}"
        return ClaimJudgement(ClaimVerdict.NOT_TESTED, note)
    if effect.n < thresholds.min_seeds or effect.p_adjusted is None:
        return ClaimJudgement(ClaimVerdict.UNDERPOWERED, f"{effect.n} seeds, {thresholds.min_seeds} needed")
    if claim.direction == "no_change":
        return _judge_no_change(effect, direction, claim, margin)
    if claim.size is None:
        return _judge_direction(direction, claim)
    return _judge_value(effect, direction, claim, margin)


def _direction_note(direction: Direction | None, claim: ClaimedEffect) -> str:
    if direction is None:
        return "direction here not settled"
    return "same direction here" if direction == claim.direction else f"here: {direction.replace('_', ' ')}"


def _judge_no_change(
    effect: Effect, direction: Direction | None, claim: ClaimedEffect, margin: float
) -> ClaimJudgement:
    """Against ±margin, and what the document itself found too little to speak of (its range), if that is wider."""
    interval95, interval90 = _intervals(effect)
    low, high = (sign * margin if end is None else end for sign, end in ((-1, claim.low), (1, claim.high)))
    low, high = min(low, -margin), max(high, margin)
    zone = f"±{margin:.4g}" if (low, high) == (-margin, margin) else f"{low:.4g} to {high:.4g}"
    if low <= interval90.low and interval90.high <= high:
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"90 % interval within {zone}")
    beyond = interval95.low > high or interval95.high < low
    if beyond and direction is not None:
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: {direction}, 95 % interval beyond {zone}")
    return ClaimJudgement(ClaimVerdict.NOT_SHOWN, f"neither within nor beyond {zone}")


def _judge_direction(direction: Direction | None, claim: ClaimedEffect) -> ClaimJudgement:
    if direction is None:
        return ClaimJudgement(ClaimVerdict.NOT_SHOWN, "direction not settled")
    if direction == claim.direction:
        return ClaimJudgement(ClaimVerdict.REPLICATED, "direction only: no value is claimed")
    return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: {direction.replace('_', ' ')}")


def _judge_value(effect: Effect, direction: Direction | None, claim: ClaimedEffect, margin: float) -> ClaimJudgement:
    # Turn everything so that the claimed direction is positive: "short of" is then to the left, "beyond" to the right.
    sign = 1 if claim.direction == "increase" else -1
    assert claim.low is not None and claim.high is not None
    low, high = sorted((sign * claim.low, sign * claim.high))
    zone = Interval(low - margin, high + margin)
    interval95, _ = _intervals(effect)
    interval = Interval(*sorted((sign * interval95.low, sign * interval95.high)))
    same = direction == claim.direction
    if direction is not None and not same and direction != "no_change":
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: {direction}")
    if same and interval.low > zone.high:
        return ClaimJudgement(ClaimVerdict.LARGER, "95 % interval wholly beyond the claim")
    if interval.high < zone.low:
        if direction == "no_change":
            return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"no effect within ±{margin:.4g}")
        note = "95 % interval wholly short of the claim" + (
            "" if same else "; whether there is any effect is not settled"
        )
        return ClaimJudgement(ClaimVerdict.SMALLER, note)
    if same and zone.low <= sign * effect.delta <= zone.high:
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"estimate within ±{margin:.4g} of the claim")
    return ClaimJudgement(
        ClaimVerdict.NOT_SHOWN, "same direction, size not settled" if same else "direction not settled"
    )
