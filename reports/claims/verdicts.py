"""Claims as numbers, and verdicts on them: does the measurement agree with the document?"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import Direction, Thresholds, Verdict, measured_direction


@dataclass(frozen=True)
class ClaimedEffect:
    """What a document says of one metric, as treatment - control in the metric's unit, with where it was
    measured.

    low, high: the claimed value (equal) or range (-inf or inf: open), None when only a direction is stated; direction:
    how the metric is said to move. differs: the conditions (see `ablations.claimed`) in which the measurement differs
    from the claim's, named.
    from_memory: the evidence is `unverified memory`.
    of_level: low and high are what one arm has itself, a share of 1; the direction is ignored.
    """

    direction: Direction
    low: float | None = None
    high: float | None = None
    differs: tuple[str, ...] = ()
    from_memory: bool = False
    of_level: bool = False

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


class ClaimJudgement(NamedTuple):
    """A verdict on a claim and why, in words for the table's footnote."""

    verdict: ClaimVerdict
    note: str


@dataclass(frozen=True)
class _Measurement:
    """An effect as strictly as the card's other claims ask. shown: its direction, None where none is; wide: the
    interval that is held against a claim's zone, in words `at`; narrow: that of two one-sided tests."""

    delta: float
    shown: Direction | None
    wide: Interval
    narrow: Interval
    at: str
    narrow_at: str


def judge_claim(
    effect: Effect, claim: ClaimedEffect, margin: float, thresholds: Thresholds, *, tests: int = 1
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
    if not claim.judged:
        direction = measured_direction(effect, margin, thresholds)
        here = f"here: {direction.replace('_', ' ')}" if direction else "direction here not shown"
        note = "same direction here" if direction == claim.direction else here
        verdict, why = _set_aside(claim)
        return ClaimJudgement(verdict, why if claim.of_level else f"{why}; {note}")
    if effect.q is None or effect.n < thresholds.min_seeds:
        return ClaimJudgement(ClaimVerdict.UNDERPOWERED, f"{effect.n} seeds, {thresholds.min_seeds} needed")
    shares = thresholds.alpha / tests, (1 - thresholds.equivalence_level) / tests
    wide, narrow = (effect.interval(1 - share) for share in shares)
    assert wide is not None and narrow is not None, "what has a p has an interval"
    shown: Direction | None = None
    if effect.q <= thresholds.alpha and effect.delta != 0:
        shown = "increase" if effect.delta > 0 else "decrease"
    words = (f"{100 * (1 - share):.4g} % interval" for share in shares)
    measured = _Measurement(effect.delta, shown, wide, narrow, *words)
    if claim.of_level:
        return ClaimJudgement(*_judge_level(measured, claim, margin))
    if claim.direction == "no_change":
        return ClaimJudgement(*_judge_no_change(measured, claim, margin))
    judge = _judge_direction if claim.size is None else _judge_value
    return ClaimJudgement(*judge(measured, claim, margin))


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
    if len(effects) > 1 and not claims[0].judged:
        return _set_aside(claims[0])
    judgements = [
        judge_claim(effect, claim, margin, thresholds, tests=tests)
        for effect, claim in zip(effects, claims, strict=True)
    ]
    words = Counter(judgement.verdict for judgement in judgements)
    if len(words) == 1:
        return ClaimJudgement(judgements[0].verdict, "; ".join(dict.fromkeys(each.note for each in judgements)))
    agree = words.keys() <= {ClaimVerdict.REPLICATED, ClaimVerdict.CONSISTENT}
    counts = ", ".join(f"{count} of {len(judgements)} layers {word}" for word, count in words.most_common())
    return ClaimJudgement(ClaimVerdict.CONSISTENT if agree else ClaimVerdict.NOT_SHOWN, counts)


def _set_aside(claim: ClaimedEffect) -> ClaimJudgement:
    """Of a claim that is not judged."""
    if claim.from_memory:
        return ClaimJudgement(ClaimVerdict.COMPARED, "claim from unverified memory")
    return ClaimJudgement(ClaimVerdict.NOT_TESTED, f"differs from the claim in {', '.join(claim.differs)}")


def _judge_no_change(measured: _Measurement, claim: ClaimedEffect, margin: float) -> tuple[ClaimVerdict, str]:
    """Against ±margin, or the document's own range of no change if that is wider."""
    low, high = (sign * margin if end is None else end for sign, end in ((-1, claim.low), (1, claim.high)))
    zone = Interval(min(low, -margin), max(high, margin))
    text = f"±{margin:.4g}" if zone.within(margin) else f"{zone.low:.4g} to {zone.high:.4g}"
    if measured.narrow.inside(zone):
        return ClaimVerdict.REPLICATED, f"{measured.narrow_at} within {text}"
    if measured.shown and not measured.wide.meets(zone):
        return ClaimVerdict.CONTRADICTED, f"here: {measured.shown}, {measured.at} beyond {text}"
    return ClaimVerdict.NOT_SHOWN, f"neither within nor beyond {text}"


def _judge_direction(measured: _Measurement, claim: ClaimedEffect, margin: float) -> tuple[ClaimVerdict, str]:
    if measured.shown == claim.direction:
        return ClaimVerdict.REPLICATED, "direction only: no value is claimed"
    if measured.shown:
        return ClaimVerdict.CONTRADICTED, f"here: {measured.shown}"
    if measured.narrow.within(margin):
        narrow = measured.narrow_at.removesuffix(" interval")
        return ClaimVerdict.CONTRADICTED, f"here: no change, {narrow} within ±{margin:.4g}"
    return ClaimVerdict.NOT_SHOWN, f"direction not shown; {_sign_note(measured, claim)}"


def _judge_value(measured: _Measurement, claim: ClaimedEffect, margin: float) -> tuple[ClaimVerdict, str]:
    # Turn everything so that the claimed direction is positive: "short of" is then to the left, "beyond" to the right.
    sign = 1 if claim.direction == "increase" else -1
    assert claim.low is not None and claim.high is not None
    low, high = sorted((sign * claim.low, sign * claim.high))
    zone, interval = Interval(low - margin, high + margin), measured.wide
    interval = Interval(*sorted((sign * interval.low, sign * interval.high)))
    same, at = measured.shown == claim.direction, measured.at
    if measured.shown and not same:
        return ClaimVerdict.CONTRADICTED, f"here: {measured.shown}"
    if same and interval.low > zone.high:
        return ClaimVerdict.LARGER, f"{at} wholly beyond the claim ± {margin:.4g}"
    short = interval.high < zone.low
    if short and not same and measured.narrow.within(margin):
        return ClaimVerdict.CONTRADICTED, f"no effect within ±{margin:.4g}"
    if short and sign * measured.delta > 0:
        unclear = "" if same else "; whether there is any is not shown"
        return ClaimVerdict.SMALLER, f"{at} wholly short of the claim ± {margin:.4g}{unclear}"
    if same and interval.inside(zone) and zone.low >= 0:
        return ClaimVerdict.REPLICATED, f"{at} within the claim ± {margin:.4g}"
    if same:
        holds_0 = "" if zone.low >= 0 else ", which holds 0"
        return ClaimVerdict.CONSISTENT, f"{at} meets the claim ± {margin:.4g}{holds_0}"
    size = "not excluded" if interval.meets(zone) else "excluded"
    return ClaimVerdict.NOT_SHOWN, f"the claimed size is {size}; {_sign_note(measured, claim)}"


def _sign_note(measured: _Measurement, claim: ClaimedEffect) -> str:
    if measured.delta == 0:
        return "the estimate is 0"
    same = (measured.delta > 0) == (claim.direction == "increase")
    return f"the estimate is of the {'claimed' if same else 'opposite'} sign"


def _judge_level(measured: _Measurement, claim: ClaimedEffect, margin: float) -> tuple[ClaimVerdict, str]:
    """Of a level there is no other direction to be contradicted by; 0 is the level of nothing at all."""
    assert claim.low is not None and claim.high is not None
    zone, text = Interval(claim.low - margin, claim.high + margin), f"the claim ± {margin:.4g}"
    if measured.wide.inside(zone):
        return ClaimVerdict.REPLICATED, f"{measured.at} within {text}"
    if measured.wide.low > zone.high:
        return ClaimVerdict.LARGER, f"{measured.at} wholly above {text}"
    if measured.wide.high < zone.low:
        return ClaimVerdict.SMALLER, f"{measured.at} wholly below {text}"
    if measured.shown and zone.low > 0:
        return ClaimVerdict.CONSISTENT, f"{measured.at} meets {text}"
    return ClaimVerdict.NOT_SHOWN, f"{measured.at} reaches beyond {text}"
