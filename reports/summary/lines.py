"""Every enhancement of some studies with its effect, once for each group of runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.registry import Registry
from ablations.study import Contrast
from reports.results.group import MAIN
from reports.results.page import OnPage, judge_page
from reports.stats.estimates import Effect
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
    """One enhancement in one group. report: of the study that it is shown for; page: its effect on the loss beside all
    others of the page, None when it has no results yet."""

    report: Report
    contrast: Contrast
    system: str
    page: OnPage | None

    @property
    def card(self) -> str:
        return self.contrast.card

    @property
    def effect(self) -> Effect | None:
        return None if self.page is None else self.page.effect


def summary_lines(reports: Sequence[Report], registry: Registry) -> list[SummaryLine]:
    """By system, then base, then in the order of the studies."""
    lines = []
    for row in judge_page(reports, [(MAIN, "nats")]):
        system = registry.cards[row.card].system if row.card in registry.cards else "unknown"
        lines.append(SummaryLine(row.report, row.contrast, system, row.effects.get((MAIN, "nats"))))
    order = list(SYSTEMS)
    return sorted(
        lines,
        key=lambda line: (order.index(line.system) if line.system in order else len(order), line.report.study.base),
    )
