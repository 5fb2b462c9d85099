"""A claim with all that a measure looks at, what a measure gives, and how an effect answers a claim."""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.registry import Registry
from ablations.schema import Claim, Enhancement
from ablations.study import Contrast
from gonn_core.metrics import METRICS
from reports.results.compare import StudyAnalysis, study_thresholds
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect
from reports.stats.verdicts import ClaimedEffect, Thresholds, judge_claim
from reports.tables import formats

NOT_MEASURED = "not measured yet"


@dataclass(frozen=True)
class ClaimContext:
    """One claim of a card in one study. `differs`: conditions in which the study differs from the claim's."""

    results: StudyResults
    registry: Registry
    card: Enhancement
    contrast: Contrast
    claim: Claim
    analyses: Mapping[str, StudyAnalysis]
    differs: tuple[str, ...]

    @property
    def samples(self) -> int:
        """Samples that the arms are trained on."""
        return self.results.study.arm(self.contrast.without[0]).config.training.samples

    @property
    def thresholds(self) -> Thresholds:
        """Those of the study."""
        return study_thresholds(self.results.study)

    @property
    def from_memory(self) -> bool:
        """Whether the claim is compared, never judged."""
        return self.claim.evidence == "unverified_memory"

    @property
    def claimed_arms(self) -> tuple[str, ...]:
        """The arms that a level is claimed of."""
        return self.contrast.with_it if self.claim.quantity == "on" else self.contrast.without


@dataclass(frozen=True)
class Measured:
    """What stands in the columns `ours` and `verdict`; `value`: numbers of the former, `note`: the reason of the
    latter."""

    text: str
    verdict: str
    note: str = ""
    value: object = None
    trials: tuple[str, ...] = ()
    evaluation: int | None = None


def not_measured(reason: str) -> Measured:
    """Nothing to set beside a claim, and why."""
    return Measured(formats.NONE, NOT_MEASURED, reason)


def judged(
    context: ClaimContext,
    effect: Effect,
    trials: tuple[str, ...],
    *,
    counted_from: str = "",
    note: str = "",
    evaluation: int | None = None,
) -> Measured:
    """An effect on the claim's metric, with its interval, judged as an answer to the claim.

    counted_from: what an effect of 0 stands for, where it is no difference of two levels; note: added to the verdict's.
    """
    claim, thresholds = context.claim, context.thresholds
    low, high = claim.bounds or (None, None)
    claimed = ClaimedEffect(claim.direction, low, high, context.differs, context.from_memory)
    judgement = judge_claim(effect, claimed, thresholds.margin(claim.metric, claimed.size), thresholds)
    unit = METRICS[claim.metric].unit
    parts = [
        formats.with_interval(effect.delta, effect.interval95, unit),
        "points" if unit == "share" else "",
        counted_from,
        f"at {formats.samples(context.samples)} samples",
    ]
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else []
    return Measured(
        " ".join(filter(None, parts)),
        str(judgement.verdict),
        "; ".join(filter(None, (judgement.note, note))),
        [effect.delta, *ends],
        trials,
        evaluation,
    )
