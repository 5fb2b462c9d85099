"""Every enhancement of some studies with its effect, and the smallest effect that could have been shown."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ablations.registry import Registry
from reports.results.compare import study_thresholds
from reports.results.group import MAIN
from reports.results.page_family import EffectKey, OnPage, judge_page
from reports.stats import power
from reports.stats.estimates import Effect
from reports.stats.verdicts import Thresholds
from reports.study.report import Report

SYSTEMS = {
    "gonn": "GoNN",
    "go_nn": "go-NN",
    "clark_storkey": "Clark & Storkey",
    "lczero": "lczero fork",
    "cazenave": "Cazenave",
}
"""Systems in the order of the page, as they are called there."""


@dataclass(frozen=True)
class SummaryLine:
    """One enhancement of one study. effect, page (what it is beside all others of the page): None when it has no
    results yet; shown: the smallest effect that it could have shown there."""

    report: Report
    card: str
    system: str
    effect: Effect | None
    page: OnPage | None
    shown: float | None


def smallest_shown(effect: Effect, thresholds: Thresholds, toggles: int) -> float | None:
    """The |effect| that this comparison would have shown with `thresholds.power` as one of `toggles`, given the
    standard error that it ended with. None where no standard error is known or it is not judged."""
    if effect.se is None or effect.df is None or effect.p_adjusted is None:
        return None
    if effect.level is not None:  # at a planned look
        thresholds = replace(thresholds, alpha=effect.level)
    return power.smallest_shown(effect.se, effect.df, thresholds, toggles, with_one_control=len(effect.weights) == 2)


def summary_lines(reports: Sequence[Report], registry: Registry) -> list[SummaryLine]:
    """Every enhancement of every study, by system, then study, in the study's order."""
    lines = []
    on_page = judge_page([(report.study, report.analyses) for report in reports], [(MAIN, "nats")])
    for report in reports:
        thresholds = study_thresholds(report.study)
        for contrast in report.study.contrasts:
            system = registry.cards[contrast.card].system if contrast.card in registry.cards else "unknown"
            effect = report.analyses[MAIN, "nats"].effect(contrast.card)
            page = on_page.get(EffectKey(report.study.id, MAIN, "nats", contrast.card))
            shown = None if effect is None or page is None else smallest_shown(effect, thresholds, page.family)
            lines.append(SummaryLine(report, contrast.card, system, effect, page, shown))
    order = list(SYSTEMS)
    return sorted(
        lines,
        key=lambda line: (order.index(line.system) if line.system in order else len(order), line.report.study.base),
    )
