"""Of every claim the one finding to show: of the study that is nearest to its conditions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ablations.registry import Registry
from gonn_core.metrics import METRICS
from reports.claims.findings import ClaimFinding
from reports.study.report import Report


@dataclass(frozen=True)
class StudyFinding:
    """A finding and the study it comes from."""

    finding: ClaimFinding
    report: Report

    @property
    def seeds(self) -> int:
        """Number of seeds behind it."""
        seeds = {trial.id: trial.seed for trial in self.report.results.trials}
        return len({seeds[trial] for trial in self.finding.trials})


def best_findings(reports: Sequence[Report]) -> dict[tuple[str, str], StudyFinding]:
    """(card, claim) -> the finding to show: with a verdict first, then the nearest in samples, then of most seeds."""
    best: dict[tuple[str, str], StudyFinding] = {}
    for report in reports:
        for finding in report.findings:
            key, result = (finding.card, finding.claim.id), StudyFinding(finding, report)
            if key not in best or _rank(result) < _rank(best[key]):
                best[key] = result
    return best


def _rank(result: StudyFinding) -> tuple:
    """Smaller is nearer to what the claim is about."""
    finding, claim = result.finding, result.finding.claim
    samples = max(arm.config.training.samples for arm in result.report.study.arms)
    distance = abs(math.log(samples / claim.samples)) if claim.samples else -math.log(samples)
    return not finding.tested, not finding.verdict.is_judged, distance, -result.seeds, result.report.study.id


@dataclass(frozen=True)
class ClaimCount:
    """Claims of some cards: their number and the findings of those that were tested."""

    claims: int
    tested: tuple[ClaimFinding, ...]


def count_claims(
    registry: Registry, best: Mapping[tuple[str, str], StudyFinding], systems: Sequence[str]
) -> tuple[ClaimCount, ClaimCount]:
    """Of the cards of these systems: claims on effects, and apart from them what is merely counted (parameters)."""
    sides: tuple[list, list] = ([], [])
    for card in registry.cards.values():
        if card.system in systems:
            for claim in card.claims:
                sides[METRICS[claim.metric].source == "net"].append(best.get((card.id, claim.id)))
    effects, counts = (
        ClaimCount(len(side), tuple(each.finding for each in side if each is not None and each.finding.tested))
        for side in sides
    )
    return effects, counts
