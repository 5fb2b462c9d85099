"""Every enhancement of some studies with its effect, once for each group of runs; their table and forest plot."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.figure import Figure

from ablations.registry import Registry
from ablations.study import Contrast
from ablations.wording import SYSTEMS
from reports.cache import Picture
from reports.figures.marks import draw_forest, legend
from reports.figures.style import WIDTH, figure_bytes
from reports.page import ForestRow, forest_groups
from reports.results.compare import OnPage, judge_page, own_runs, used_trials
from reports.results.group import MAIN, comparison_key
from reports.stats.estimates import Effect
from reports.stats.verdicts import EffectVerdict
from reports.study.page import forest_row
from reports.study.report import Report
from reports.study.tables import cost_values, effect_details, effect_values
from reports.tables import formats
from reports.tables.cells import Cell, Table, make_row, of_split
from reports.tables.entities import EFFECTS, pick
from reports.worth.effects import EXPLAINED, WORTH, samples_of, worth_values

_KEYS = (
    *("card", "base", "system", "study", "samples", "delta", "interval", "at_base", "verdict", "could_show", "bound"),
    *("q", "runs", "own", *WORTH, "top1", "parameters", "flops", "speed"),
)

WEAK = 0.3
"""Test top-1 of a control below which an effect says little of a trained net."""


@dataclass(frozen=True)
class SummaryLine:
    """One enhancement in one group. report: of the study in which it is shown; page: its effect on the loss among all
    others of the page, None while it has no results."""

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

    @property
    def verdict(self) -> EffectVerdict:
        return EffectVerdict.NO_RESULT if self.page is None else self.page.verdict


def summary_lines(reports: Sequence[Report], registry: Registry) -> list[SummaryLine]:
    """By system, then base, then in the order of the studies; of one comparison at several numbers of samples, the one
    with the narrowest interval, of equal ones the longest."""
    best: dict[tuple, tuple[float, int]] = {}
    for report in reports:
        for contrast in report.study.contrasts:
            effect = report.nats.effect(contrast.card)
            interval = effect.interval95 if effect else None
            width = interval.high - interval.low if interval else math.inf
            key, mine = comparison_key(report.study, contrast), (-width, samples_of(report.study.arms[0]))
            best[key] = max(best.get(key, mine), mine)

    def is_best(report: Report, contrast: Contrast) -> bool:
        return best[comparison_key(report.study, contrast)][1] == samples_of(report.study.arms[0])

    lines = []
    for row in judge_page(reports, [(MAIN, "nats")], is_best):
        system = registry.cards[row.card].system if row.card in registry.cards else "unknown"
        lines.append(SummaryLine(row.report, row.contrast, system, row.effects.get((MAIN, "nats"))))
    order = (*SYSTEMS, "unknown")
    return sorted(lines, key=lambda line: (order.index(line.system), line.report.study.base))


def summary_forest(lines: Sequence[SummaryLine]) -> list[ForestRow]:
    """A row for each effect, grouped by base, budget and samples, with its cost and worth."""
    return [
        replace(
            forest_row(
                line.report,
                line.card,
                f"{_scale(line.report)} ({SYSTEMS.get(line.system, line.system)})",
                line.effect,
                line.verdict,
                line.page,
            ),
            cost=_cost(line),
        )
        for line in lines
        if line.effect is not None
    ]


def _cost(line: SummaryLine) -> str:
    """`× 1.16 FLOPs, worth × 1.9 samples`: cost, and worth where it is known."""
    flops = f"{formats.ratio(cost_values(line.report.results, line.contrast)['flops'])} FLOPs"
    worth = line.report.worths.get(line.card) if line.verdict.is_shown else None
    return f"{flops}, worth {worth.samples.text.partition(' [')[0]} samples" if worth else flops


def summary_table(lines: Sequence[SummaryLine]) -> Table:
    """The page's table: what helps first, then what hurts, then what leans, by size. Worth and the effect at the base
    are columns where any is known."""
    means = any(line.page is not None and line.page.at_base for line in lines)
    worths = any(line.report.worths for line in lines)
    left_out = (() if means else ("at_base",)) + (() if worths else WORTH)
    columns = of_split(pick(EFFECTS, *(key for key in _KEYS if key not in left_out)), "test")
    rows = []
    for line in sorted(lines, key=_order):
        results, key = line.report.results, f"{line.report.study.id}:{line.card}"
        trials = used_trials(results, line.contrast, MAIN) if line.page is not None else ()
        rows.append(make_row(columns, key, _values(line, trials), trials, MAIN, effect_details(results, trials)))
    notes = (*_notes(lines), EXPLAINED) if worths else _notes(lines)
    return Table("summary", "Effects on the loss", columns, tuple(rows), notes)


def _order(line: SummaryLine) -> tuple:
    delta = None if line.effect is None else line.effect.delta
    return line.verdict.rank, delta is None, -abs(delta or 0.0), line.card


def _values(line: SummaryLine, trials: tuple[str, ...]) -> dict[str, Any]:
    report, card, page = line.report, line.card, line.page
    values: dict[str, Any] = {
        "card": card,
        "base": report.study.base,
        "system": SYSTEMS.get(line.system, line.system),
        "study": report.study.id,
        "samples": samples_of(report.study.arms[0]),
        "verdict": Cell(line.verdict, line.verdict),
        "own": own_runs(report.study, trials, line.effect),
        **cost_values(report.results, line.contrast),
        **worth_values(report.worths.get(card)),
    }
    if page is not None:
        accuracy = report.analyses[MAIN, "top1"].effect(card)
        values |= effect_values(page.effect, page.at_base, page.verdict)
        values |= {"could_show": page.could_show, "top1": accuracy and accuracy.delta}
    return values


def _notes(lines: Sequence[SummaryLine]) -> tuple[str, ...]:
    reports = list({line.report.study.id: line.report for line in lines}.values())
    if not reports:
        return ()
    coverage = sorted({report.study.games for report in reports})
    budgets = sorted({report.study.budget_label for report in reports})
    thresholds = reports[0].study.thresholds
    mixed = [line.report for line in lines if line.effect is not None and line.effect.is_mean]
    means = sorted({f"{_scale(report)} ({report.study.data}, {report.nats.runs[0]} runs)" for report in mixed})
    at_base = (
        f"Δ is the mean effect over the other enhancements on and off for {'; '.join(means)}; “at the base”, with all "
        "others as there, has no verdict of its own. All other rows are differences of two arms."
    )
    return (
        f"{len(lines)} effects; budget {', '.join(budgets)}; data {'; '.join(map(formats.in_short, coverage))}. Each "
        "enhancement has one row per group of runs: all runs of a base under the same conditions.",
        f"Of the effects that this page calls helps or hurts, at most {100 * thresholds.alpha:g} % are expected to be "
        "null or of the other sign: q is over all effects of this page, of all bases. An interval is that of one "
        "effect by itself. Bases and their nets differ between systems, so compare rows of one base with each other.",
        f"“Could show”: the smallest |Δ| that would have been shown with a probability of {100 * thresholds.power:g} "
        "%, given the measured noise and all other effects of this page. FLOPs and samples/s are ratios, with ÷ "
        "without.",
        *([at_base] if means else []),
        *_weak(reports),
    )


def _weak(reports: Sequence[Report]) -> list[str]:
    """Bases whose control has hardly learned, with what it predicts in the study with most seeds."""
    shares: dict[str, float] = {}
    for report in sorted(reports, key=lambda report: len(report.study.seeds)):
        for arm in (arm.id for arm in report.study.arms if not arm.values):
            top1 = report.results.arm_result(arm, MAIN, "top1")
            if top1 is not None:
                shares[f"{_scale(report)} of {report.study.data}"] = float(top1.means.mean())
    bases = "; ".join(
        f"{scale}: {formats.level(share, 'share')}" for scale, share in sorted(shares.items()) if share < WEAK
    )
    return (
        [
            f"Their control predicts less than {100 * WEAK:.0f} % of the moves, so their effects are about early "
            f"learning: {bases}."
        ]
        if bases
        else []
    )


def _scale(report: Report) -> str:
    study = report.study
    return f"{study.base}, {study.budget_label}, {formats.about(samples_of(study.arms[0]))} samples"


def forest(rows: Sequence[ForestRow], name: str, title: str) -> Picture | None:
    """The picture of these effects; None without any."""

    def paint(figure: Figure) -> None:
        legend(figure, draw_forest(figure.subplots(), rows, "test"))

    size = WIDTH, 1.5 + 0.25 * len(forest_groups(rows))
    return Picture(name, title, lambda: figure_bytes(name, size, paint), tuple(rows)) if rows else None
