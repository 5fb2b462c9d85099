"""The claims of a study's cards with what was found here: number, ours, verdict."""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ablations.claimed import Comparison, differences, in_brief
from ablations.data.schema import PREFIX
from ablations.registry import Registry
from ablations.schema import Claim, Enhancement
from ablations.study import Contrast
from ablations.wording import conditions_text, withdrawn_text
from gonn_core.config import with_values
from gonn_core.metrics import METRICS
from reports.claims.measures import MEASURES, Answer, ClaimContext, Measured
from reports.claims.verdicts import ClaimVerdict, judge_claims
from reports.results.compare import StudyAnalysis
from reports.results.study_results import StudyResults
from reports.stats.verdicts import discovery_rates
from reports.tables import formats
from reports.tables.cells import Cell, Table, make_row
from reports.tables.entities import CLAIMS, pick
from reports.tables.formats import HISTORY, bound_text


def judge_together(contexts: Sequence[ClaimContext], measures: Sequence[Measured | Answer]) -> list[Measured]:
    """What was measured for each of a card's claims in a study, with the verdicts on those that are to be judged.

    The q of each of the different numbers behind the claims, already over the effects of the study, is taken over these
    numbers too, and intervals are held against the claims at 1 - alpha / numbers. Claims that are compared only or not
    tested here do not count.
    """
    q = [_q(context, each) for context, each in zip(contexts, measures, strict=True)]
    numbers = {_count(context): own for context, own in zip(contexts, q, strict=True) if own is not None}
    rates = dict(zip(numbers, discovery_rates(list(numbers.values())), strict=True))
    judged = []
    for context, each, own in zip(contexts, measures, q, strict=True):
        rate = None if own is None else rates[_count(context)]
        judged.append(each if isinstance(each, Measured) else _judged(context, each, rate, len(rates)))
    return judged


def _count(context: ClaimContext) -> Hashable:
    """What a claim is about: claims with the same one are answered by the same number."""
    claim = context.claim
    probe = claim.probe and claim.probe.model_dump_json()
    return claim.metric, claim.history, claim.quantity, claim.statistic, probe


def _q(context: ClaimContext, each: Measured | Answer) -> float | None:
    """Of several numbers that must bear a claim out together, the largest. None of a claim that is not judged."""
    if isinstance(each, Measured) or not each.claimed[0].judged:
        return None
    least = context.results.study.thresholds.min_seeds
    known = [effect.q for effect in each.effects if effect.q is not None and effect.n >= least]
    return max(known) if len(known) == len(each.effects) else None


def _judged(context: ClaimContext, each: Answer, q: float | None, tests: int) -> Measured:
    effects = each.effects if q is None else [replace(effect, q=q) for effect in each.effects]
    thresholds, metric = context.results.study.thresholds, context.claim.metric
    judgement = judge_claims(effects, each.claimed, each.margin, thresholds, tests=max(tests, 1))
    notes, difference = [judgement.note], METRICS[metric].source != "weights" and not each.claimed[0].of_level
    if judgement.verdict is ClaimVerdict.NOT_SHOWN and difference:
        (effect,) = each.effects
        assert effect.bound is not None, "what is judged has intervals"
        notes.append(f"smaller than {bound_text(effect.bound, metric)} (90 %)")
    note = "; ".join(filter(None, (*notes, each.note)))
    tested = 0 if q is None else tests
    return Measured(each.text, judgement.verdict, note, each.value, each.trials, each.evaluation, tested)


_COLUMNS = pick(CLAIMS, "claim", "claimed", "ours", "verdict", "conditions", "source", "note")


@dataclass(frozen=True)
class ClaimFinding:
    """One claim of a card and what this study says about it."""

    card: str
    claim: Claim
    measured: Measured
    trials: tuple[str, ...]
    differs: tuple[str, ...] = ()
    """In what the study differs from the claim's conditions."""

    @property
    def name(self) -> str:
        """`<card>: <claim>`."""
        return f"{self.card}: {self.claim.id}"

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict on the claim."""
        return self.measured.verdict

    @property
    def tested(self) -> bool:
        """Whether there is a measured number to compare it with."""
        return self.verdict is not ClaimVerdict.NOT_MEASURED


def same_conditions(finding: ClaimFinding) -> bool:
    """Whether the claim was tested as it was made."""
    return finding.tested and finding.verdict.is_judged


def claim_ends(finding: ClaimFinding) -> tuple[float, float]:
    """Both ends of a claim; an open one stands at the other."""
    assert finding.claim.bounds is not None  # of the others nothing is drawn
    low, high = finding.claim.bounds
    return (high if math.isinf(low) else low), (low if math.isinf(high) else high)


def find_claims(
    results: StudyResults, registry: Registry, analyses: Mapping[tuple[int, str], StudyAnalysis]
) -> tuple[ClaimFinding, ...]:
    """Every claim of the study's cards that the registry still has; `analyses`: by evaluation and metric."""
    findings = []
    for contrast in results.study.contrasts:
        if contrast.card not in registry.cards:
            continue
        card = registry.card(contrast.card).on_base(results.study.base, results.study.budget)
        contexts = [
            ClaimContext(
                results, registry, card, contrast, claim, analyses, differs(results, registry, card, contrast, claim)
            )
            for claim in card.claims
        ]
        found = [MEASURES[METRICS[each.claim.metric].source](each) for each in contexts]
        findings += [
            ClaimFinding(card.id, context.claim, measured, measured.trials, context.differs)
            for context, measured in zip(contexts, judge_together(contexts, found), strict=True)
        ]
    return tuple(findings)


def differs(
    results: StudyResults, registry: Registry, card: Enhancement, contrast: Contrast, claim: Claim
) -> tuple[str, ...]:
    """In what the study's comparison differs from the claim's conditions, in words."""
    study = results.study
    arms = [study.arm(side[0]) for side in (contrast.without, contrast.with_it)]
    # An arm's configuration has only the digest of its view, not the filters of the games behind it.
    filters = ({p: json.loads(value) for p, value in arm.values.items() if p.startswith(PREFIX)} for arm in arms)
    off, on = (with_values(arm.config, values) for arm, values in zip(arms, filters, strict=True))
    curves = (trial.curve for trial in results.of_arm(arms[0].id) if trial.curve)
    points = [0, *(line["samples"] for line in next(curves, ()))]
    window = points[-1] - points[-2] if len(points) > 1 else None  # of the last training loss
    apart = differences(registry, Comparison(card, off, on, study.data, study.coverage, window), claim)
    if (unjudged := results.unjudged) is not None:
        apart = (f"being {unjudged}", *apart)
    return (*apart, "being a mean over the other enhancements on and off") if len(contrast.without) > 1 else apart


def claims_table(results: StudyResults, findings: tuple[ClaimFinding, ...]) -> Table:
    """One row per claim: claimed, ours, verdict; conditions, source and the reason of the verdict."""
    notes, claimed = [], {finding.card for finding in findings}
    if missing := [contrast.card for contrast in results.study.contrasts if contrast.card not in claimed]:
        notes.append(f"No claims are declared for: {', '.join(missing)}.")
    if tests := {finding.card: finding.measured.tests for finding in findings if finding.measured.tests > 1}:
        numbers = ", ".join(f"{card} {count}" for card, count in tests.items())
        notes.append(
            f"Different numbers behind the judged claims: {numbers}. Those of one enhancement are judged together: q "
            "is over them, and the intervals held against the claims are wider than the 95 % ones shown."
        )
    several = len(results.study.contrasts) > 1
    rows = []
    for finding in findings:
        values = {**claim_values(finding), "claim": finding.name if several else finding.claim.id}
        rows.append(make_row(_COLUMNS, finding.name, values))
    return Table("claims", "Claims of the documents", _COLUMNS, tuple(rows), tuple(notes))


def claim_values(finding: ClaimFinding) -> dict[str, Any]:
    """Values of the columns of a claim (`reports.tables.entities.CLAIMS`) that need no study."""
    claim, measured = finding.claim, finding.measured
    text = claimed_text(claim)
    ours = [measured.text if finding.tested else None, *_numbers(measured.value)]
    return {
        "claimed": Cell(text, [text, *(claim.bounds or (None, None))], escape=True),
        "ours": Cell(measured.text, ours, measured.trials, measured.evaluation, escape=True),
        "verdict": Cell(measured.verdict, measured.verdict, measured.trials),
        "conditions": conditions_text(claim),
        "document": claim.document,
        "source": source_text(claim),
        "note": why_cell(finding),
    }


def _numbers(value: object) -> tuple[object, object, object]:
    """Value and ends of a measurement: from a number; value and ends; a value without ends; ends alone."""
    parts = value if isinstance(value, list) else [value]
    if len(parts) == 2:
        return None, parts[0], parts[1]
    return tuple([*parts, None, None][:3])


def why_cell(finding: ClaimFinding) -> Cell:
    """The reason of a verdict and the claim's note; differing settings one by one in CSV, by their number on a page."""
    claim, note = finding.claim, finding.measured.note
    brief = note.replace(", ".join(finding.differs), in_brief(finding.differs)) if finding.differs else note
    document = claim.note and f"document: {claim.note}"
    shown, whole = ("; ".join(filter(None, (text, document))) for text in (brief, note))
    return Cell(shown, whole, escape=True)


def claimed_text(claim: Claim) -> str:
    """What a claim says, in the notation of the tables."""
    what = claim.statistic.replace("_", " ") if claim.statistic else METRICS[claim.metric].claim_title or claim.metric
    if claim.probe:
        what = f"probability of {claim.probe.move} in {claim.probe.position}"
        what += f" minus that in {claim.probe.minus}" if claim.probe.minus else ""
    if claim.quantity != "difference":
        what += " with it" if claim.quantity == "on" else " without it"
    if claim.history != "full":
        what += f", {HISTORY[claim.history]}"
    return f"{what}: {_value_text(claim)}{withdrawn_text(claim)}"


def _value_text(claim: Claim) -> str:
    if claim.bounds is None:
        return claim.direction.replace("_", " ")
    low, high = (_number(claim, end) if math.isfinite(end) else None for end in claim.bounds)
    unit = " points" if claim.quantity == "difference" and METRICS[claim.metric].unit == "share" else ""
    if low is None or high is None:
        return f"at least {low}{unit}" if high is None else f"at most {high}{unit}"
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _number(claim: Claim, value: float) -> str:
    unit, difference = METRICS[claim.metric].unit, claim.quantity == "difference"
    if unit == "count":
        return formats.signed_count(value)
    if unit == "ratio":
        return formats.ratio(value)
    if difference:
        return formats.signed(value, unit) if unit == "share" else formats.minus(f"{value:+g}")
    if claim.probe is not None and claim.probe.minus is not None:
        return f"{100 * value:.1f} points"
    return f"{100 * value:.1f} %" if unit == "share" else formats.minus(f"{value:g}")


def source_text(claim: Claim) -> str:
    """Document, section and evidence of a claim."""
    return f"{claim.document}, {claim.section} ({claim.evidence.replace('_', ' ')})"
