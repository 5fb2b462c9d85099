"""A study's effects at other numbers of samples, as other studies measured them, for the notes on claims of more."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ablations.study import Study
from gonn_core.errors import UserError
from reports.claims.findings import ClaimFinding
from reports.claims.verdicts import ClaimVerdict
from reports.results.compare import StudyAnalysis
from reports.stats.estimates import Effect
from reports.tables import formats
from reports.worth.controls import comparison_key, samples_of
from reports.worth.curve import ControlCurve
from reports.worth.trend import Trend, trend


@dataclass(frozen=True)
class OverSamples:
    """What other studies tell of a study over numbers of samples: the loss of its control, and its effects."""

    curve: ControlCurve
    effects: "Elsewhere"


Elsewhere = Mapping[str, Mapping[int, Effect]]
"""Card -> samples -> effect on the loss."""


def effects_elsewhere(
    study: Study, studies: Sequence[Study], effects_of: Callable[[Study], StudyAnalysis]
) -> Elsewhere:
    """Effects of the study's comparisons at other numbers of samples; of several studies at one number the one with
    most runs. `effects_of`: those of a study on the loss; studies whose files cannot be read, and first looks, are
    left out."""
    wanted = (
        {comparison_key(study, contrast): contrast.card for contrast in study.contrasts} if study.evaluations else {}
    )
    found: dict[str, dict[int, Effect]] = {}
    for other in studies:
        samples = samples_of(other.arms[0])
        if not other.evaluations or other.first_look or samples == samples_of(study.arms[0]):
            continue
        same = [(each, wanted[key]) for each in other.contrasts if (key := comparison_key(other, each)) in wanted]
        try:
            effects = effects_of(other) if same else None
        except UserError:
            continue
        for theirs, card in same:
            effect = effects.in_arms(theirs) if effects else None
            known = found.setdefault(card, {}).get(samples)
            if effect is not None and (known is None or effect.n > known.n):
                found[card][samples] = effect
    return found


def trends_here(study: Study, nats: StudyAnalysis, elsewhere: Elsewhere) -> dict[str, Trend]:
    """Card -> trend of its effects between two arms, here and elsewhere."""
    thresholds, samples, trends = study.thresholds, samples_of(study.arms[0]), {}
    for contrast in study.contrasts:
        effect, others = nats.in_arms(contrast), elsewhere.get(contrast.card)
        if effect is not None and others:
            found = trend({**others, samples: effect}, thresholds.alpha, thresholds.smallest("nats"))
            if found is not None:
                trends[contrast.card] = found
    return trends


def trend_text(found: Trend) -> str:
    """`growing with samples here: −0.0200 at 25k … −0.0500 at 200k, p 0.0100`."""
    (first, least), (last, most) = next(iter(found.effects.items())), list(found.effects.items())[-1]
    ends = " … ".join(
        f"{formats.signed(effect.delta)} at {formats.about(samples)}"
        for samples, effect in ((first, least), (last, most))
    )
    return f"{found.course} with samples here: {ends}, p {formats.p_value(found.p)}"


def with_trends(findings: Sequence[ClaimFinding], trends: Mapping[str, Trend]) -> tuple[ClaimFinding, ...]:
    """Claims on the loss that are not tested here because they are of more samples have the trend in their note."""
    return tuple(_with_trend(finding, trends.get(finding.card)) for finding in findings)


def _with_trend(finding: ClaimFinding, found: Trend | None) -> ClaimFinding:
    claim, measured = finding.claim, finding.measured
    if found is None or measured.verdict != ClaimVerdict.NOT_TESTED or (claim.metric, claim.quantity) != (
        "nats", "difference",
    ):  # fmt: skip
        return finding
    if claim.samples is not None and claim.samples <= max(found.effects):
        return finding
    note = "; ".join(filter(None, (measured.note, trend_text(found))))
    return replace(finding, measured=replace(measured, note=note))
