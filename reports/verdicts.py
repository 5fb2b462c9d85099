"""Verdicts in words: on an effect (does it help?) and on a claim (does it agree with the document?). DESIGN: Honest statistics."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from gonn_core.errors import SettingError
from reports.statistics import Effect, Interval

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Thresholds:
    """Every number that a verdict depends on; written to the study file before its first trial.

    alpha: two-sided level of helps/hurts after Holm; equivalence_level: of the interval that must lie within ±delta for `no effect`
    (1 - 2 alpha: two one-sided tests); min_seeds: below it an effect is underpowered; smallest_*: the least delta by unit of the metric;
    claim_share: delta is at least this share of the claim; outlier_ratio, outlier_level: see `reports.seed_noise`; power: see `reports.power`.
    """

    alpha: float = 0.05
    equivalence_level: float = 0.90
    min_seeds: int = 3
    smallest_nats: float = 0.002
    smallest_rate: float = 0.001
    claim_share: float = 0.25
    outlier_ratio: float = 10.0
    outlier_level: float = 0.01
    power: float = 0.80

    def smallest(self, metric: str) -> float:
        """The least difference of `metric` that counts as an effect, in its unit; SettingError for a metric without one."""
        known = {
            "nats": self.smallest_nats,
            "train_nats": self.smallest_nats,
            "top1": self.smallest_rate,
            "top4": self.smallest_rate,
        }
        if metric not in known:
            raise SettingError("metric", metric, "no smallest effect is set for it", sorted(known))
        return known[metric]

    def margin(self, metric: str, claim: float | None = None) -> float:
        """delta = max(smallest effect, |claim| / 4)."""
        return max(self.smallest(metric), self.claim_share * abs(claim or 0.0))


class EffectVerdict(StrEnum):
    HELPS = "helps"
    HURTS = "hurts"
    NO_EFFECT = "no effect"
    INCONCLUSIVE = "inconclusive"
    UNDERPOWERED = "underpowered"


class ClaimVerdict(StrEnum):
    COMPARED = "compared only"
    NOT_TESTED = "not tested here"
    UNDERPOWERED = "underpowered"
    REPLICATED = "replicated"
    SMALLER = "smaller than claimed"
    LARGER = "larger than claimed"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Claim:
    """What a document says of one metric, as treatment - control in the metric's unit.

    low, high: the claimed value (equal) or range (-inf or inf: open), None when only a direction is stated; direction: in which way the
    metric is said to move. differs: the conditions (base, planes, samples) in which the measurement differs from the claim's, named.
    from_memory: the evidence is `unverified memory`.
    """

    direction: Literal["better", "worse", "none"]
    low: float | None = None
    high: float | None = None
    differs: tuple[str, ...] = ()
    from_memory: bool = False

    def __post_init__(self):
        if (self.low is None) != (self.high is None):
            raise ValueError("claim: low and high go together")
        if self.low is not None and (self.low > self.high or not any(map(math.isfinite, (self.low, self.high)))):
            raise ValueError(f"claim: range {self.low} to {self.high}; want low <= high and one of them finite")

    @property
    def size(self) -> float | None:
        """|claim| for delta: of the range's middle, or of its finite end; None when only a direction is stated."""
        if self.low is None:
            return None
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        return abs(sum(ends) / len(ends))


@dataclass(frozen=True)
class ClaimJudgement:
    """A verdict on a claim and why, in words for the table's footnote."""

    verdict: ClaimVerdict
    note: str


def judge_effect(effect: Effect, better: Better, margin: float, thresholds: Thresholds) -> EffectVerdict:
    """helps/hurts: Holm-adjusted p below alpha, whatever the size; no effect: the 90 % interval lies within ±margin; else inconclusive.

    An effect may be both significant and within the margin: it is then named by its sign (the table shows how small it is).
    """
    if effect.n < thresholds.min_seeds or effect.p_holm is None:
        return EffectVerdict.UNDERPOWERED
    if effect.p_holm < thresholds.alpha and effect.delta != 0:
        return EffectVerdict.HELPS if (effect.delta < 0) == (better == "lower") else EffectVerdict.HURTS
    if effect.interval90.within(margin):
        return EffectVerdict.NO_EFFECT
    return EffectVerdict.INCONCLUSIVE


def judge_claim(effect: Effect, claim: Claim, better: Better, margin: float, thresholds: Thresholds) -> ClaimJudgement:
    """Compares a measured effect with a claim; `margin` is `thresholds.margin(metric, claim.size)`.

    Not judged at all: claims from memory (`compared only`), claims made under other conditions (`not tested here`), too few seeds.
    A value is *replicated* when the effect is significant in the claimed direction and its estimate lies within the claim ± margin;
    *larger* or *smaller* when the 95 % interval lies wholly beyond or short of that zone; *contradicted* when it is short of it and
    the effect goes the other way or is none. A stated direction is replicated or contradicted by helps, hurts and no effect.
    """
    found = judge_effect(effect, better, margin, thresholds)
    if claim.from_memory:
        return ClaimJudgement(ClaimVerdict.COMPARED, f"claim from unverified memory; {_direction_note(found, claim)}")
    if claim.differs:
        note = f"differs from the claim in {', '.join(claim.differs)}; {_direction_note(found, claim)}"
        return ClaimJudgement(ClaimVerdict.NOT_TESTED, note)
    if found is EffectVerdict.UNDERPOWERED:
        return ClaimJudgement(ClaimVerdict.UNDERPOWERED, f"{effect.n} seeds, {thresholds.min_seeds} needed")
    if claim.direction == "none":
        return _judge_none(effect, found, margin)
    if claim.size is None:
        return _judge_direction(found, claim)
    return _judge_value(effect, found, claim, better, margin)


def _claimed_verdict(claim: Claim) -> EffectVerdict:
    return {
        "better": EffectVerdict.HELPS,
        "worse": EffectVerdict.HURTS,
        "none": EffectVerdict.NO_EFFECT,
    }[claim.direction]


def _direction_note(found: EffectVerdict, claim: Claim) -> str:
    if found in (EffectVerdict.INCONCLUSIVE, EffectVerdict.UNDERPOWERED):
        return "direction here not settled"
    return "same direction here" if found is _claimed_verdict(claim) else f"here: {found}"


def _judge_none(effect: Effect, found: EffectVerdict, margin: float) -> ClaimJudgement:
    if effect.interval90.within(margin):
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"90 % interval within ±{margin:.4g}")
    beyond = effect.interval95.low > margin or effect.interval95.high < -margin
    if beyond and found in (EffectVerdict.HELPS, EffectVerdict.HURTS):
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"{found}, 95 % interval beyond ±{margin:.4g}")
    return ClaimJudgement(ClaimVerdict.INCONCLUSIVE, f"neither within nor beyond ±{margin:.4g}")


def _judge_direction(found: EffectVerdict, claim: Claim) -> ClaimJudgement:
    if found is EffectVerdict.INCONCLUSIVE:
        return ClaimJudgement(ClaimVerdict.INCONCLUSIVE, "direction not settled")
    if found is _claimed_verdict(claim):
        return ClaimJudgement(ClaimVerdict.REPLICATED, "direction only: no value is claimed")
    return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: {found}")


def _judge_value(effect: Effect, found: EffectVerdict, claim: Claim, better: Better, margin: float) -> ClaimJudgement:
    # Turn everything so that the claimed direction is positive: "short of" is then to the left, "beyond" to the right.
    sign = 1 if (claim.direction == "better") == (better == "higher") else -1
    low, high = sorted((sign * claim.low, sign * claim.high))
    ends = sorted((sign * effect.interval95.low, sign * effect.interval95.high))
    measured, interval = sign * effect.delta, Interval(*ends)
    if high <= 0:
        raise ValueError(f"claim: {claim.low} to {claim.high} is not {claim.direction} where {better} is better")
    zone = Interval(low - margin, high + margin)
    same = found is _claimed_verdict(claim)
    opposite = found in (EffectVerdict.HELPS, EffectVerdict.HURTS) and not same
    if interval.low > zone.high and same:
        return ClaimJudgement(ClaimVerdict.LARGER, "95 % interval wholly beyond the claim")
    if interval.high < zone.low:
        if opposite:
            return ClaimJudgement(ClaimVerdict.CONTRADICTED, "the other direction, and 95 % interval excludes the claim")
        if found is EffectVerdict.NO_EFFECT:
            return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"no effect within ±{margin:.4g}")
        note = "95 % interval wholly short of the claim" + ("" if same else "; whether there is any effect is not settled")
        return ClaimJudgement(ClaimVerdict.SMALLER, note)
    if opposite:
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, "the other direction")
    if same and zone.low <= measured <= zone.high:
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"estimate within ±{margin:.4g} of the claim")
    return ClaimJudgement(ClaimVerdict.INCONCLUSIVE, "same direction, size not settled" if same else "direction not settled")
