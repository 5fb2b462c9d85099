"""Effects as a page over several studies shows them: each enhancement once for all runs of its base, and q over all
effects of one metric on the page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ablations.study import Contrast
from gonn_core.metrics import METRICS
from reports.results.group import MAIN, conditions
from reports.stats.estimates import Effect
from reports.stats.power import page_level, smallest_shown
from reports.stats.verdicts import EffectVerdict, judge_effect, with_q


@dataclass(frozen=True)
class OnPage:
    """What a page says of an effect, which has the q of the page. at_base: the effect at the base, where this one is a
    mean over the others on and off. could_show: the smallest |effect| that would have been shown beside the others, in
    the metric's unit, None without a standard error."""

    effect: Effect
    verdict: EffectVerdict
    at_base: Effect | None
    could_show: float | None


@dataclass(frozen=True)
class PageRow:
    """An enhancement in a group of runs. report: of the study that it is shown for, with `results` and `analyses` by
    evaluation and metric; effects: (evaluation, metric) -> what the page says, of those that have results."""

    report: Any
    contrast: Contrast
    effects: dict[tuple[int, str], OnPage] = field(default_factory=dict)

    @property
    def card(self) -> str:
        return self.contrast.card


def judge_page(reports: Sequence[Any], shown: Collection[tuple[int, str]] | None = None) -> list[PageRow]:
    """Every enhancement once for each group of runs, in the order of the studies, its effects judged among all of their
    metric and kind of test games on the page.

    shown: the evaluations and metrics of which the page shows effects, None: of all that there are.
    """
    rows = _rows(reports)
    families: dict[tuple, dict[tuple[int, int, str], Effect]] = {}
    for place, row in enumerate(rows):
        study = row.report.results.study
        for (number, metric), analysis in row.report.analyses.items():
            effect = analysis.effect(row.card)
            if effect is not None and (shown is None or (number, metric) in shown):
                evaluation = study.evaluations[number]
                family = metric, evaluation.split, evaluation.history, study.first_look
                families.setdefault(family, {})[place, number, metric] = effect
    for members in families.values():
        thresholds = rows[next(iter(members))[0]].report.results.study.thresholds
        effects = with_q(members, thresholds)
        judged = [each.q for each in effects.values() if each.q is not None]
        for (place, number, metric), effect in effects.items():
            row, better, could_show = rows[place], METRICS[metric].better, None
            assert better is not None, f"{metric} is not judged"
            if effect.se is not None and effect.df is not None and effect.q is not None:
                level = page_level(judged, thresholds.alpha)
                could_show = smallest_shown(effect.se, effect.df, level, thresholds)
            verdict = row.report.results.unjudged or judge_effect(effect, better, thresholds)
            at_base = row.report.analyses[number, metric].at_base.get(row.card)
            row.effects[number, metric] = OnPage(effect, verdict, at_base, could_show)
    return rows


def _rows(reports: Sequence[Any]) -> list[PageRow]:
    """Of several studies that ask for an enhancement in one group a finished one, then that with looks, whose p is that
    of all of them, then that with the most runs of its own."""
    best: dict[tuple, tuple[tuple, PageRow]] = {}
    for report in reports:
        results, study = report.results, report.results.study
        for contrast in study.contrasts:
            effect = report.analyses[MAIN, "nats"].effect(contrast.card)
            number = None if effect is None else f"{effect.delta:.6g} ± {effect.se or 0.0:.6g}"
            key = conditions(study), contrast.card, number
            arms = {*contrast.with_it, *contrast.without}
            own = sum(trial.result is not None for trial in results.trials if trial.arm in arms)
            rank = results.unjudged is None, study.looks is not None, own
            if key not in best or rank > best[key][0]:
                best[key] = rank, PageRow(report, contrast)
    known = {key[:2] for key in best if key[2] is not None}
    return [row for key, (_, row) in best.items() if key[2] is not None or key[:2] not in known]
