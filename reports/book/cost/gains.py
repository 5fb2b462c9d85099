"""Every measured effect on the loss with what it costs, and which of them nothing cheaper beats."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.results.compare import used_trials
from reports.results.costs import mean_cost
from reports.results.group import MAIN
from reports.results.page import OnPage, judge_page
from reports.stats.estimates import Effect
from reports.study.report import Report

COSTS = {"flops": "FLOPs", "time": "time"}
"""Fields of a gain -> what they are called."""


@dataclass(frozen=True)
class Gain:
    """One effect on the loss and its price: ratios with : without (time: None where speeds were not measured),
    parameters as a difference."""

    card: str
    report: Report
    flops: float
    time: float | None
    parameters: float
    trials: tuple[str, ...]
    page: OnPage

    @property
    def effect(self) -> Effect:
        return self.page.effect

    @property
    def group(self) -> tuple:
        """Gains that can be weighed against each other: one base, budget, data, samples and test games."""
        study = self.report.study
        samples = study.arms[0].config.training.samples
        return study.base, study.budget_label, study.data, samples, study.evaluations[MAIN].subset


def gains(reports: Sequence[Report]) -> list[Gain]:
    """Every effect on the loss, once for each group of runs."""
    found = []
    for row in judge_page(reports, [(MAIN, "nats")]):
        page, results = row.effects.get((MAIN, "nats")), row.report.results
        if page is not None:
            on, off = (mean_cost(results, side) for side in (row.contrast.with_it, row.contrast.without))
            trials, more = used_trials(results, row.contrast, MAIN), on.parameters - off.parameters
            found.append(Gain(row.card, row.report, on.flops / off.flops, on.time_to(off), more, trials, page))
    return sorted(found, key=lambda gain: (gain.group, gain.effect.delta, gain.card))


def front(chosen: Sequence[Gain], cost: str) -> list[Gain]:
    """Of gains of one group those that lower the loss and that none as cheap or cheaper lowers more: the Pareto front,
    by rising cost."""
    lowest, optimal = 0.0, []
    for gain in sorted(
        (gain for gain in chosen if getattr(gain, cost) is not None),
        key=lambda gain: (getattr(gain, cost), gain.effect.delta, gain.card),
    ):
        if gain.effect.delta < lowest:
            lowest = gain.effect.delta
            optimal.append(gain)
    return optimal
