"""A claim with all that a measure looks at, and what a measure gives: a verdict, or what is to be judged together with
the card's other claims."""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.registry import Registry
from ablations.schema import Claim, Enhancement
from ablations.study import Contrast, Study
from gonn_core.metrics import METRICS
from reports.claims.verdicts import ClaimedEffect, ClaimVerdict
from reports.results.compare import StudyAnalysis
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect
from reports.stats.verdicts import Thresholds
from reports.tables import formats


@dataclass(frozen=True)
class ClaimContext:
    """One claim of a card in one study. analyses: by evaluation and metric; differs: conditions in which the study
    differs from the claim's."""

    results: StudyResults
    registry: Registry
    card: Enhancement
    contrast: Contrast
    claim: Claim
    analyses: Mapping[tuple[int, str], StudyAnalysis]
    differs: tuple[str, ...]

    @property
    def samples(self) -> int:
        """Samples that the arms are trained on."""
        return self.results.study.arm(self.contrast.without[0]).config.training.samples

    @property
    def thresholds(self) -> Thresholds:
        """Those of the study."""
        return self.results.study.thresholds

    @property
    def from_memory(self) -> bool:
        """Whether the claim is compared, never judged."""
        return self.claim.evidence == "unverified_memory"

    @property
    def claimed_arms(self) -> tuple[str, ...]:
        """The arms that a level is claimed of."""
        return self.contrast.with_it if self.claim.quantity == "on" else self.contrast.without

    @property
    def claimed(self) -> ClaimedEffect:
        """What the claim says, in numbers. A level has no direction, but for what a net answers in one position less
        what it answers in another."""
        claim, (low, high) = self.claim, self.claim.bounds or (None, None)
        of_level = claim.quantity != "difference" and (claim.probe is None or claim.probe.minus is None)
        return ClaimedEffect(claim.direction, low, high, self.differs, self.from_memory, of_level)


@dataclass(frozen=True)
class Measured:
    """What stands in the columns `ours` and `verdict`; `value`: numbers of the former, `note`: the reason of the
    latter; tests: how many different ones of the card's claims it was judged together with, itself among them; 0: it
    was not judged by a test."""

    text: str
    verdict: ClaimVerdict
    note: str = ""
    value: object = None
    trials: tuple[str, ...] = ()
    evaluation: int | None = None
    tests: int = 0


@dataclass(frozen=True)
class Answer:
    """What was found of a claim, to be judged by `reports.claims.findings`.

    effects: one, or one for each of the numbers that must bear it out together, with the claim on each; the other
    fields: as of `Measured`; note: added to the verdict's.
    """

    effects: tuple[Effect, ...]
    claimed: tuple[ClaimedEffect, ...]
    margin: float
    text: str
    note: str
    value: object
    trials: tuple[str, ...]
    evaluation: int | None = None


def claim_evaluation(study: Study, claim: Claim) -> int | None:
    """Number of the study's evaluation in which the claim's metric is read: the main one, or that of the same games
    with the claim's history. None: the study was planned without."""
    if METRICS[claim.metric].source == "curve" or claim.history == "full":
        return MAIN
    wanted = (study.evaluations[MAIN].split, study.evaluations[MAIN].subset, claim.history)
    known = enumerate(study.evaluations)
    return next((number for number, each in known if (each.split, each.subset, each.history) == wanted), None)


def not_measured(reason: str) -> Measured:
    """Nothing to set beside a claim, and why."""
    return Measured(formats.NONE, ClaimVerdict.NOT_MEASURED, reason)


def answer(
    context: ClaimContext,
    effect: Effect,
    trials: tuple[str, ...],
    *,
    counted_from: str = "",
    note: str = "",
    evaluation: int | None = None,
) -> Answer:
    """An effect on the claim's metric, with its interval, as an answer to the claim.

    counted_from: what an effect of 0 stands for, where it is no difference of two levels; note: added to the verdict's.
    """
    claimed, unit = context.claimed, METRICS[context.claim.metric].unit
    parts = [
        formats.with_interval(effect.delta, effect.interval95, unit),
        "points" if unit == "share" else "",
        counted_from,
        f"at {formats.samples(context.samples)} samples",
    ]
    margin = context.thresholds.margin(context.claim.metric, claimed.size)
    text = " ".join(filter(None, parts))
    return Answer((effect,), (claimed,), margin, text, note, with_ends(effect), trials, evaluation)


def level_answer(
    context: ClaimContext, effect: Effect, trials: tuple[str, ...], *, unit: str = "%", evaluation: int | None = None
) -> Answer:
    """The mean over seeds of what one arm has itself, a share of 1."""
    claimed, values, ends = context.claimed, effect.deltas, effect.interval95
    finite = max((abs(end) for end in context.claim.bounds or () if abs(end) != float("inf")), default=None)
    interval = "" if ends is None else f" [{_percent(ends.low)}, {_percent(ends.high)}]"
    text = f"{_percent(effect.delta)} {unit}{interval} at {formats.samples(context.samples)} samples"
    note = f"{effect.n} seeds, {_percent(min(values))} to {_percent(max(values))} {unit}"
    margin = context.thresholds.margin(context.claim.metric, finite)
    return Answer((effect,), (claimed,), margin, text, note, with_ends(effect), trials, evaluation)


def with_ends(effect: Effect) -> list[float]:
    """Value and, where there are any, ends of the 95 % interval."""
    return [effect.delta, *([effect.interval95.low, effect.interval95.high] if effect.interval95 else [])]


def _percent(share: float) -> str:
    return formats.minus(f"{100 * share:.3g}" if abs(share) < 0.01 else f"{100 * share:.1f}")
