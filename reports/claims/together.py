"""Judging the claims of one card together: they are several chances for a verdict to be wrong."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

from gonn_core.metrics import METRICS
from reports.claims.context import Answer, ClaimContext, Measured
from reports.results.decisions import judged_level
from reports.stats.claim_verdicts import ClaimVerdict, judge_claims
from reports.stats.estimates import Effect
from reports.stats.family import Test, step_down
from reports.tables.verdicts import bound_text


def judge_together(contexts: Sequence[ClaimContext], found: Sequence[Measured | Answer]) -> list[Measured]:
    """What was found of each of a card's claims in a study, with the verdicts on those that are to be judged.

    The different tests that stand behind the claims are a family: what each tells, p, already adjusted over the cards
    of the study, is adjusted over them by Holm's procedure (in Sidak's form, `reports.stats.family.step_down`), and
    intervals are held against the claims at 1 - alpha / tests. Two claims of one number are one test, and claims that
    are compared only or not tested here are none. No claim has a privilege.
    """
    tests: dict[Hashable, float] = {}
    for context, each in zip(contexts, found, strict=True):
        p = _p(context, each) if isinstance(each, Answer) else None
        if p is not None:
            tests[_number(context)] = p
    adjusted = dict(zip(tests, step_down([Test(p, 1.0) for p in tests.values()]), strict=True))
    measured = []
    for context, each in zip(contexts, found, strict=True):
        if isinstance(each, Answer):
            tested = _p(context, each) is not None
            each = _judged(context, each, adjusted[_number(context)] if tested else None, len(tests))
        measured.append(each)
    return measured


def _number(context: ClaimContext) -> Hashable:
    """What a claim is about: claims with the same one are answered by the same number."""
    claim = context.claim
    probe = claim.probe and claim.probe.model_dump_json()
    return claim.metric, claim.history, claim.quantity, claim.statistic, probe


def _p(context: ClaimContext, each: Answer) -> float | None:
    """Of the claim's test; of numbers that must bear it out together, the largest. None for one that is no test."""
    if not each.claimed[0].judged:
        return None
    known = [
        effect.p_adjusted
        for effect in each.effects
        if effect.p_adjusted is not None and effect.n >= context.thresholds.min_seeds
    ]
    return max(known) if len(known) == len(each.effects) else None


def _judged(context: ClaimContext, each: Answer, p: float | None, tests: int) -> Measured:
    claimed, thresholds = each.claimed, context.thresholds
    level = judged_level(context.results.study, context.results.looks, context.contrast.card)
    effects = [_adjusted(effect, p, level) for effect in each.effects]
    judgement = judge_claims(effects, claimed, each.margin, thresholds, tests=max(tests, 1))
    notes = [judgement.note]
    difference = METRICS[context.claim.metric].source != "weights" and not claimed[0].of_level
    if judgement.verdict is ClaimVerdict.NOT_SHOWN and difference:
        (effect,) = each.effects
        assert effect.bound is not None, "what is judged has intervals"
        notes.append(f"smaller than {bound_text(effect.bound, context.claim.metric)} (90 %)")
    return Measured(
        each.text,
        str(judgement.verdict),
        "; ".join(filter(None, (*notes, each.note))),
        each.value,
        each.trials,
        each.evaluation,
        tests if p is not None else 0,
    )


def _adjusted(effect: Effect, p: float | None, level: float | None) -> Effect:
    """With a p of at least the adjusted one of its test, and the level of a planned look if there is none yet."""
    effect = replace(effect, level=level if effect.level is None else effect.level)
    return effect if p is None or effect.p_adjusted is None else replace(effect, p_adjusted=max(p, effect.p_adjusted))
