"""Claims as numbers, and verdicts on them: does the measurement agree with the document?"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import Direction, Thresholds, Verdict, measured_direction


@dataclass(frozen=True)
class ClaimedEffect:
    """What a document says of one metric, as treatment - control in the metric's unit, set beside where it was
    measured.

    low, high: the claimed value (equal) or range (-inf or inf: open), None when only a direction is stated; direction:
    how the metric is said to move. differs: the conditions (see `ablations.claimed`) in which the measurement differs
    from the claim's, named.
    from_memory: the evidence is `unverified memory`.
    of_level: low and high are what one arm has itself, a share of 1; the direction is of no account.
    """

    direction: Direction
    low: float | None = None
    high: float | None = None
    differs: tuple[str, ...] = ()
    from_memory: bool = False
    of_level: bool = False

    def __post_init__(self):
        if self.low is None and self.high is None:
            return
        if self.low is None or self.high is None:
            raise ValueError("claim: low and high go together")
        if self.low > self.high or not any(map(math.isfinite, (self.low, self.high))):
            raise ValueError(f"claim: range {self.low} to {self.high}; want low <= high and one of them finite")
        wrong = (self.direction == "decrease" and self.high > 0) or (self.direction == "increase" and self.low < 0)
        if wrong and not self.of_level:
            raise ValueError(f"claim: {self.low} to {self.high} is no {self.direction}")

    @property
    def size(self) -> float | None:
        """|claim| for delta: of the range's middle, or of its finite end; None when only a direction is stated."""
        if self.low is None or self.high is None:
            return None
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        return abs(sum(ends) / len(ends))

    @property
    def judged(self) -> bool:
        """Whether it is held against what was found: not one from memory, not one made under other conditions."""
        return not (self.from_memory or self.differs)


class ClaimVerdict(Verdict):
    REPLICATED = "replicated", "good"
    CONSISTENT = "consistent with the claim", "good"
    SMALLER = "smaller than claimed"
    LARGER = "larger than claimed"
    CONTRADICTED = "contradicted", "bad"
    NOT_SHOWN = "not shown"
    UNDERPOWERED = "underpowered", "open"
    NOT_TESTED = "not tested here"
    COMPARED = "compared only"
    COUNT_AGREES = "count agrees", "good", "counts agree"
    COUNT_DIFFERS = "count differs", "bad", "counts differ"
    NOT_MEASURED = "not measured yet", "open"
    NO_CLAIM = "no claim"

    @property
    def is_judged(self) -> bool:
        """Whether the claim was tested under its own conditions."""
        return self not in (ClaimVerdict.NOT_TESTED, ClaimVerdict.COMPARED, ClaimVerdict.NOT_MEASURED)


@dataclass(frozen=True)
class ClaimJudgement:
    """A verdict on a claim and why, in words for the table's footnote."""

    verdict: ClaimVerdict
    note: str


@dataclass(frozen=True)
class _Found:
    """What was found, as strictly as the card's other claims ask. shown: the direction, None where none is; wide: the
    interval that is held against a claim's zone; narrow: that of two one-sided tests."""

    delta: float
    shown: Direction | None
    wide: Interval
    narrow: Interval
    wide_level: str
    narrow_level: str


def judge_claim(
    effect: Effect,
    claim: ClaimedEffect,
    margin: float,
    thresholds: Thresholds,
    *,
    tests: int = 1,
) -> ClaimJudgement:
    """Compares a measured effect with a claim; `margin` is `thresholds.margin(metric, claim.size)`, and the claim's
    *zone* is its value or range, widened by the margin on either side.

    tests: of how many different ones of the card's claims this is one: intervals are of 1 - alpha / tests, and the
    effect's q is to be over them.

    Not judged at all: claims from memory (`compared only`), claims made under other conditions (`not tested here`), too
    few seeds. What each word of a value asks for is a table of docs/STATISTICS.md (Claims). A zone that holds 0 (a
    margin larger than the claim) cannot tell the claim from no effect: what is shown there is consistent at best.
    A stated direction is replicated or contradicted by the direction found.
    """
    aside = _set_aside(claim)
    if aside is not None and claim.of_level:
        return aside
    if aside is not None:
        direction = _direction_note(measured_direction(effect, margin, thresholds), claim)
        return replace(aside, note=f"{aside.note}; {direction}")
    found = _found(effect, thresholds, tests)
    if found is None:
        return ClaimJudgement(ClaimVerdict.UNDERPOWERED, f"{effect.n} seeds, {thresholds.min_seeds} needed")
    if claim.of_level:
        return _judge_level(found, claim, margin)
    if claim.direction == "no_change":
        return _judge_no_change(found, claim, margin)
    if claim.size is None:
        return _judge_direction(found, claim, margin)
    return _judge_value(found, claim, margin)


def judge_claims(
    effects: Sequence[Effect],
    claims: Sequence[ClaimedEffect],
    margin: float,
    thresholds: Thresholds,
    *,
    tests: int = 1,
) -> ClaimJudgement:
    """Of a claim that one or several numbers must bear out, such as one per layer of a net: the verdict that all of
    them have. As all must, they are one test."""
    if len(effects) == 1:
        return judge_claim(effects[0], claims[0], margin, thresholds, tests=tests)
    aside = _set_aside(claims[0])
    if aside is not None:
        return aside
    each = [
        judge_claim(effect, claim, margin, thresholds, tests=tests)
        for effect, claim in zip(effects, claims, strict=True)
    ]
    words = Counter(judgement.verdict for judgement in each)
    if len(words) == 1:
        return ClaimJudgement(each[0].verdict, "; ".join(dict.fromkeys(judgement.note for judgement in each)))
    agree = words.keys() <= {ClaimVerdict.REPLICATED, ClaimVerdict.CONSISTENT}
    counts = ", ".join(f"{count} of {len(each)} layers {word}" for word, count in words.most_common())
    return ClaimJudgement(ClaimVerdict.CONSISTENT if agree else ClaimVerdict.NOT_SHOWN, counts)


def _set_aside(claim: ClaimedEffect) -> ClaimJudgement | None:
    """What is said of a claim that is not judged."""
    if claim.from_memory:
        return ClaimJudgement(ClaimVerdict.COMPARED, "claim from unverified memory")
    if claim.differs:
        return ClaimJudgement(ClaimVerdict.NOT_TESTED, f"differs from the claim in {', '.join(claim.differs)}")
    return None


def _found(effect: Effect, thresholds: Thresholds, tests: int) -> _Found | None:
    """None with too few seeds."""
    if effect.q is None or effect.n < thresholds.min_seeds:
        return None
    shares = thresholds.alpha / tests, (1 - thresholds.equivalence_level) / tests
    wide, narrow = (effect.interval(1 - share) for share in shares)
    assert wide is not None and narrow is not None, "what has a p has an interval"
    shown: Direction | None = None
    if effect.q <= thresholds.alpha and effect.delta != 0:
        shown = "increase" if effect.delta > 0 else "decrease"
    return _Found(effect.delta, shown, wide, narrow, *(f"{100 * (1 - share):.4g} %" for share in shares))


def _direction_note(direction: Direction | None, claim: ClaimedEffect) -> str:
    if direction is None:
        return "direction here not shown"
    return "same direction here" if direction == claim.direction else f"here: {direction.replace('_', ' ')}"


def _judge_no_change(found: _Found, claim: ClaimedEffect, margin: float) -> ClaimJudgement:
    """Against ±margin, and what the document itself found too little to speak of (its range), if that is wider."""
    low, high = (sign * margin if end is None else end for sign, end in ((-1, claim.low), (1, claim.high)))
    zone = Interval(min(low, -margin), max(high, margin))
    text = f"±{margin:.4g}" if zone.within(margin) else f"{zone.low:.4g} to {zone.high:.4g}"
    if found.narrow.inside(zone):
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"{found.narrow_level} interval within {text}")
    if found.shown and not found.wide.meets(zone):
        note = f"here: {found.shown}, {found.wide_level} interval beyond {text}"
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, note)
    return ClaimJudgement(ClaimVerdict.NOT_SHOWN, f"neither within nor beyond {text}")


def _judge_direction(found: _Found, claim: ClaimedEffect, margin: float) -> ClaimJudgement:
    if found.shown == claim.direction:
        return ClaimJudgement(ClaimVerdict.REPLICATED, "direction only: no value is claimed")
    if found.shown:
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: {found.shown}")
    if found.narrow.within(margin):
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: no change, {found.narrow_level} within ±{margin:.4g}")
    return ClaimJudgement(ClaimVerdict.NOT_SHOWN, f"direction not shown; {_sign_note(found, claim)}")


def _judge_value(found: _Found, claim: ClaimedEffect, margin: float) -> ClaimJudgement:
    # Turn everything so that the claimed direction is positive: "short of" is then to the left, "beyond" to the right.
    sign = 1 if claim.direction == "increase" else -1
    assert claim.low is not None and claim.high is not None
    low, high = sorted((sign * claim.low, sign * claim.high))
    zone, interval = Interval(low - margin, high + margin), found.wide if sign > 0 else found.wide.mirrored
    same, at = found.shown == claim.direction, f"{found.wide_level} interval"
    if found.shown and not same:
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"here: {found.shown}")
    if same and interval.low > zone.high:
        return ClaimJudgement(ClaimVerdict.LARGER, f"{at} wholly beyond the claim ± {margin:.4g}")
    short = interval.high < zone.low
    if short and not same and found.narrow.within(margin):
        return ClaimJudgement(ClaimVerdict.CONTRADICTED, f"no effect within ±{margin:.4g}")
    if short and sign * found.delta > 0:
        note = f"{at} wholly short of the claim ± {margin:.4g}"
        return ClaimJudgement(ClaimVerdict.SMALLER, note if same else f"{note}; whether there is any is not shown")
    if same and interval.inside(zone) and zone.low >= 0:
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"{at} within the claim ± {margin:.4g}")
    if same:
        note = f"{at} meets the claim ± {margin:.4g}" + ("" if zone.low >= 0 else ", which holds 0")
        return ClaimJudgement(ClaimVerdict.CONSISTENT, note)
    size = "not excluded" if interval.meets(zone) else "excluded"
    return ClaimJudgement(ClaimVerdict.NOT_SHOWN, f"the claimed size is {size}; {_sign_note(found, claim)}")


def _sign_note(found: _Found, claim: ClaimedEffect) -> str:
    if found.delta == 0:
        return "the estimate is 0"
    same = (found.delta > 0) == (claim.direction == "increase")
    return f"the estimate is of the {'claimed' if same else 'opposite'} sign"


def _judge_level(found: _Found, claim: ClaimedEffect, margin: float) -> ClaimJudgement:
    """Of a level there is no other direction to be contradicted by; 0 is the level of nothing at all."""
    assert claim.low is not None and claim.high is not None
    zone, text = Interval(claim.low - margin, claim.high + margin), f"the claim ± {margin:.4g}"
    if found.wide.inside(zone):
        return ClaimJudgement(ClaimVerdict.REPLICATED, f"{found.wide_level} interval within {text}")
    if not found.wide.meets(zone):
        beyond = found.wide.low > zone.high
        verdict = ClaimVerdict.LARGER if beyond else ClaimVerdict.SMALLER
        note = f"{found.wide_level} interval wholly {'above' if beyond else 'below'} {text}"
        return ClaimJudgement(verdict, note)
    if found.shown and zone.low > 0:
        return ClaimJudgement(ClaimVerdict.CONSISTENT, f"{found.wide_level} interval meets {text}")
    return ClaimJudgement(ClaimVerdict.NOT_SHOWN, f"{found.wide_level} interval reaches beyond {text}")
