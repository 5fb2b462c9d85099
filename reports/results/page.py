"""Effects as a page over several studies shows them: each enhancement once for all runs of its base, and q over all
effects of one metric on the page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ablations.study import Contrast, Study
from gonn_core.metrics import METRICS
from reports.results.compare import StudyAnalysis, study_thresholds
from reports.results.group import MAIN, conditions
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect
from reports.stats.power import page_level, smallest_shown
from reports.stats.verdicts import EffectVerdict, Thresholds, judge_effect, with_q

Analyses = Mapping[tuple[int, str], StudyAnalysis]
"""Statistics of a study by evaluation and metric."""


class EffectKey(NamedTuple):
    """An effect of a page: a row shows it."""

    study: str
    evaluation: int
    metric: str
    card: str


@dataclass(frozen=True)
class OnPage:
    """What a page says of an effect, which has the q of the page. at_base: the effect at the base, where this one is a
    mean over the others on and off. could_show: the smallest |effect| that would have been shown beside the others, in
    the metric's unit, None without a standard error."""

    effect: Effect
    verdict: EffectVerdict
    at_base: Effect | None
    could_show: float | None


def page_rows(analysed: Sequence[tuple[StudyResults, Analyses]]) -> list[tuple[StudyResults, Analyses, Contrast]]:
    """Every enhancement once for each group of runs, in the order of the studies: of several studies that ask for it in
    one, that with the most runs of its own."""
    best: dict[tuple, tuple[tuple, StudyResults, Analyses, Contrast]] = {}
    for results, analyses in analysed:
        study = results.study
        for contrast in study.contrasts:
            effect = analyses[MAIN, "nats"].effect(contrast.card)
            key = conditions(study), contrast.card, None if effect is None else (effect.delta, effect.se)
            arms = {*contrast.with_it, *contrast.without}
            own = sum(trial.result is not None for trial in results.trials if trial.arm in arms)
            # The one with looks counts, for its p is that of all of them.
            rank = effect is not None, results.unjudged is None, study.looks is not None, own
            if key not in best or rank > best[key][0]:
                best[key] = rank, results, analyses, contrast
    known = {key[:2] for key, (rank, *_) in best.items() if rank[0]}
    return [each[1:] for key, each in best.items() if each[0][0] or key[:2] not in known]


def judge_page(
    analysed: Sequence[tuple[StudyResults, Analyses]], shown: Collection[tuple[int, str]] | None = None
) -> dict[EffectKey, OnPage]:
    """Every effect of `page_rows` that has results, judged among all of its metric and kind of test games on the page.

    shown: the evaluations and metrics of which the page shows effects, None: of all that there are.
    """
    families: dict[tuple, dict[EffectKey, tuple[Study, Effect, StudyAnalysis]]] = {}
    for results, analyses, contrast in page_rows(analysed):
        study = results.study
        for (number, metric), analysis in analyses.items():
            effect = analysis.effect(contrast.card)
            if effect is not None and (shown is None or (number, metric) in shown):
                evaluation = study.evaluations[number]
                family = metric, evaluation.split, evaluation.history, study.first_look
                key = EffectKey(study.id, number, metric, contrast.card)
                families.setdefault(family, {})[key] = study, effect, analysis
    found: dict[EffectKey, OnPage] = {}
    for (metric, *_), members in families.items():
        better = METRICS[metric].better
        assert better is not None, f"{metric} is not judged"
        thresholds = study_thresholds(next(iter(members.values()))[0])
        effects = with_q({key: effect for key, (_, effect, _) in members.items()}, thresholds)
        judged = [each.q for each in effects.values() if each.q is not None]
        for key, (_, _, analysis) in members.items():
            own = analysis.verdicts[key.card]
            unjudged = own in (EffectVerdict.UNFINISHED, EffectVerdict.NOT_A_RESULT)
            verdict = own if unjudged else judge_effect(effects[key], better, thresholds)
            could = _could_show(effects[key], judged, thresholds)
            found[key] = OnPage(effects[key], verdict, analysis.at_base.get(key.card), could)
    return found


def _could_show(effect: Effect, judged: Sequence[float], thresholds: Thresholds) -> float | None:
    if effect.se is None or effect.df is None or effect.q is None:
        return None
    return smallest_shown(effect.se, effect.df, page_level(judged, thresholds.alpha), thresholds)
