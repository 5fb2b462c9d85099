"""Judging the claims of one card together: they are several chances for a verdict to be wrong."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

from gonn_core.metrics import METRICS
from reports.claims.context import Answer, ClaimContext, Measured
from reports.claims.verdicts import ClaimVerdict, judge_claims
from reports.stats.verdicts import discovery_rates
from reports.tables.verdicts import bound_text


def judge_together(contexts: Sequence[ClaimContext], found: Sequence[Measured | Answer]) -> list[Measured]:
    """What was found of each of a card's claims in a study, with the verdicts on those that are to be judged.

    The q of each of the different numbers behind the claims, already over the effects of the study, is taken over these
    numbers too, and intervals are held against the claims at 1 - alpha / numbers. Claims that are compared only or not
    tested here do not count.
    """
    q = [_q(context, each) if isinstance(each, Answer) else None for context, each in zip(contexts, found, strict=True)]
    numbers = {_number(context): own for context, own in zip(contexts, q, strict=True) if own is not None}
    rates = dict(zip(numbers, discovery_rates(list(numbers.values())), strict=True))
    return [
        each
        if isinstance(each, Measured)
        else _judged(context, each, None if own is None else rates[_number(context)], len(rates))
        for context, each, own in zip(contexts, found, q, strict=True)
    ]


def _number(context: ClaimContext) -> Hashable:
    """What a claim is about: claims with the same one are answered by the same number."""
    claim = context.claim
    probe = claim.probe and claim.probe.model_dump_json()
    return claim.metric, claim.history, claim.quantity, claim.statistic, probe


def _q(context: ClaimContext, each: Answer) -> float | None:
    """Of several numbers that must bear a claim out together, the largest. None of a claim that is not judged."""
    known = [effect.q for effect in each.effects if effect.q is not None and effect.n >= context.thresholds.min_seeds]
    return max(known) if each.claimed[0].judged and len(known) == len(each.effects) else None


def _judged(context: ClaimContext, each: Answer, q: float | None, tests: int) -> Measured:
    claimed, thresholds = each.claimed, context.thresholds
    effects = each.effects if q is None else [replace(effect, q=q) for effect in each.effects]
    judgement = judge_claims(effects, claimed, each.margin, thresholds, tests=max(tests, 1))
    notes = [judgement.note]
    difference = METRICS[context.claim.metric].source != "weights" and not claimed[0].of_level
    if judgement.verdict is ClaimVerdict.NOT_SHOWN and difference:
        (effect,) = each.effects
        assert effect.bound is not None, "what is judged has intervals"
        notes.append(f"smaller than {bound_text(effect.bound, context.claim.metric)} (90 %)")
    return Measured(
        each.text,
        judgement.verdict,
        "; ".join(filter(None, (*notes, each.note))),
        each.value,
        each.trials,
        each.evaluation,
        0 if q is None else tests,
    )
