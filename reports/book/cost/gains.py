"""Every measured effect on the loss with what it costs, and which of them nothing cheaper beats."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.results.compare import used_trials
from reports.results.costs import mean_cost
from reports.results.group import MAIN
from reports.results.page_family import EffectKey, OnPage, judge_page
from reports.stats.estimates import Effect, Interval
from reports.study.report import Report

COSTS = {"flops": "FLOPs", "time": "time"}
"""Fields of a gain -> what they are called."""


@dataclass(frozen=True)
class Gain:
    """One effect on the loss and its price: ratios with : without (time: None where speeds were not measured),
    parameters as a difference."""

    card: str
    report: Report
    delta: float
    interval95: Interval | None
    flops: float
    time: float | None
    parameters: float
    trials: tuple[str, ...]
    effect: Effect
    page: OnPage

    @property
    def group(self) -> tuple:
        """Gains that can be weighed against each other: one base, budget, data and test games."""
        study = self.report.study
        return study.base, study.budget_label, study.data, study.evaluations[MAIN].subset


def gains(reports: Sequence[Report]) -> list[Gain]:
    """Every effect on the loss; of a card that several studies measured on one base, the one with most seeds."""
    best: dict[tuple, tuple[int, Gain]] = {}
    on_page = judge_page([(report.study, report.analyses) for report in reports], [(MAIN, "nats")])
    for report in reports:
        for contrast in report.study.contrasts:
            effect = report.analyses[MAIN, "nats"].effect(contrast.card)
            if effect is None:
                continue
            on, off = mean_cost(report.results, contrast.with_it), mean_cost(report.results, contrast.without)
            time = None
            if on.samples_per_s is not None and off.samples_per_s is not None:
                time = off.samples_per_s / on.samples_per_s
            trials = used_trials(report.results, contrast, effect, MAIN)
            gain = Gain(
                contrast.card,
                report,
                effect.delta,
                effect.interval95,
                on.flops / off.flops,
                time,
                on.parameters - off.parameters,
                trials,
                effect,
                on_page[EffectKey(report.study.id, MAIN, "nats", contrast.card)],
            )
            key = (*gain.group, gain.card)
            if key not in best or effect.n > best[key][0]:
                best[key] = (effect.n, gain)
    return sorted((gain for _, gain in best.values()), key=lambda gain: (gain.group, gain.delta, gain.card))


def front(chosen: Sequence[Gain], cost: str) -> list[Gain]:
    """Of gains of one group those that lower the loss and that none as cheap or cheaper lowers more: the Pareto front,
    by rising cost."""
    lowest, optimal = 0.0, []
    for gain in sorted(
        (gain for gain in chosen if getattr(gain, cost) is not None),
        key=lambda gain: (getattr(gain, cost), gain.delta, gain.card),
    ):
        if gain.delta < lowest:
            lowest = gain.delta
            optimal.append(gain)
    return optimal
