"""The statistics of a study: its enhancements in the model of all runs of its base (`reports.results.group`)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ablations.study import Arm, Contrast, EvaluationRef, Study
from gonn_core.errors import printable
from gonn_core.metrics import METRICS
from reports.results.decisions import repeated
from reports.results.group import MAIN, Group, conditions, own_group
from reports.results.study_results import OF_RUNS, StudyResults
from reports.stats.estimates import ArmResult, Effect
from reports.stats.model import RunNoise, page_level, smallest_shown
from reports.stats.verdicts import EffectVerdict, judge_effect, with_q


@dataclass(frozen=True)
class StudyAnalysis:
    """Effects of a study's cards on one metric of one evaluation, in its group.

    effects, verdicts: of the cards that have results; at_base: of those that are means over the others on and off the
    effects with all else as in the base, if the runs tell them. left_out: why the other cards have none. runs: of the
    group, and how many of them are the study's own; noise: of a run.
    """

    metric: str
    effects: Mapping[str, Effect]
    at_base: Mapping[str, Effect]
    verdicts: Mapping[str, EffectVerdict]
    left_out: Mapping[str, str]
    runs: tuple[int, int]
    noise: RunNoise | None

    @property
    def is_mean(self) -> bool:
        """Whether effects are means over the others on and off."""
        return any(effect.is_mean for effect in self.effects.values())

    def effect(self, card: str) -> Effect | None:
        """The effect of a card, None when it has no results yet."""
        return self.effects.get(card)

    def verdict(self, card: str) -> EffectVerdict | None:
        """The verdict on that effect."""
        return self.verdicts.get(card)

    def in_arms(self, contrast: Contrast) -> Effect | None:
        """The effect as between the two arms of a contrast: at the base, where a mean over the others is another."""
        effect, single = self.effect(contrast.card), len(contrast.with_it) == len(contrast.without) == 1
        return self.at_base.get(contrast.card) if single and effect is not None and effect.is_mean else effect


def analyse_study(
    results: StudyResults, metric: str, evaluation: int = MAIN, group: Group | None = None
) -> StudyAnalysis:
    """Effects of all cards on one metric of one evaluation (its number in the study).

    metric: one that is read from positions, or from the last progress line of each trial. group: None for the study's
    own runs alone. In a study with looks p is that of all of them together (`reports.results.decisions`). What is not
    judged (`StudyResults.unjudged`) has no p.
    """
    study, better, thresholds = results.study, METRICS[metric].better, results.study.thresholds
    group = group or own_group(results)
    reference: EvaluationRef = study.evaluations[evaluation]
    found = {each.card: group.effect(study, each, metric, reference) for each in study.contrasts}
    known = {card: each for card, each in found.items() if not isinstance(each, str)}
    effects = {card: mean for card, (mean, _) in known.items()}
    at_base = {card: base for card, (_, base) in known.items() if base is not None}
    if results.unjudged is not None:
        effects, at_base = ({card: replace(each, p=None) for card, each in of.items()} for of in (effects, at_base))
    elif study.looks is not None:
        effects, at_base = repeated(results, [effects, at_base], metric, reference)
    in_arms = with_q({**effects, **at_base}, thresholds)
    effects, at_base = with_q(effects, thresholds), {card: in_arms[card] for card in at_base}
    verdicts = {
        card: results.unjudged or judge_effect(each, better, thresholds)
        for card, each in effects.items()
        if better is not None
    }
    model, _ = group.model(metric, reference)
    own = {trial.id for trial in results.trials}
    return StudyAnalysis(
        metric,
        effects,
        at_base,
        verdicts,
        {card: each for card, each in found.items() if isinstance(each, str)},
        (len(group.runs), sum(run.trial.id in own for run in group.runs)),
        None if model is None else model.noise,
    )


def by_seed_alone(values: Mapping[int, float]) -> ArmResult:
    """An ArmResult of one value per seed, without any noise between games."""
    return ArmResult(tuple(values), np.outer(list(values.values()), np.ones(2)), np.ones(2))


def used_trials(results: StudyResults, contrast: Contrast, evaluation: int) -> tuple[str, ...]:
    """The study's own trials of the arms behind an effect; its group has more (`reports.results.group`)."""
    arms = (*contrast.with_it, *contrast.without)
    return tuple(trial.id for arm in arms for trial in results.evaluated(arm, evaluation).values())


def own_runs(study: Study, trials: Sequence[str], effect: Effect | None) -> int | None:
    """How many of an effect's runs are a study's own, of its arms `trials`; None for single changes next to a mean over
    others, which may leave them out."""
    if effect is None or effect.is_mean and study.design not in OF_RUNS:
        return None
    return min(len(trials), sum(effect.runs))


def paired_curve(results: StudyResults, contrast: Contrast) -> dict[int, np.ndarray]:
    """Samples -> differences in nats on the validation progress subset, of the seeds of which all arms got that far, by
    rising seed."""
    nats: dict[str, dict[tuple[int, int], float]] = {arm: {} for arm in (*contrast.with_it, *contrast.without)}
    for trial in results.trials:
        if trial.arm in nats:
            nats[trial.arm] |= {(line["samples"], trial.seed): line["nats"] for line in trial.curve if "nats" in line}
    curve: dict[int, list[float]] = {}
    for point in sorted(set.intersection(*map(set, nats.values()))):
        on, off = (np.mean([nats[arm][point] for arm in side]) for side in (contrast.with_it, contrast.without))
        curve.setdefault(point[0], []).append(float(on - off))
    return {samples: np.array(deltas) for samples, deltas in curve.items()}


def arm_curve(
    results: StudyResults, arm: Arm, letters: int = 60
) -> tuple[str, list[dict[int, float]], dict[int, float]]:
    """An arm's name of at most `letters`, with the number of its seeds where some have not got as far; validation nats
    of each seed by samples; their mean where all seeds that got anywhere have a point."""
    seeds = [
        {line["samples"]: line["nats"] for line in trial.curve if "nats" in line} for trial in results.of_arm(arm.id)
    ]
    values: dict[int, list[float]] = {}
    for points in seeds:
        for count, nats in points.items():
            values.setdefault(count, []).append(nats)
    most, planned = max(map(len, values.values()), default=0), results.due_seeds(arm.id)
    mean = {count: float(np.mean(nats)) for count, nats in sorted(values.items()) if len(nats) == most}
    label = printable(arm.label, letters) + ("" if most == planned else f" ({most} of {planned} seeds)")
    return label, seeds, mean


@dataclass(frozen=True)
class OnPage:
    """What a page says of an effect, which has the q of the page. at_base: the effect at the base, where this one is a
    mean over the others on and off. could_show: the smallest |effect| that would have been shown among the others, in
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


def judge_page(
    reports: Sequence[Any],
    shown: Collection[tuple[int, str]] | None = None,
    asked: Callable[[Any, Contrast], bool] = lambda report, contrast: True,
) -> list[PageRow]:
    """Every enhancement once for each group of runs, in the order of the studies, its effects judged among all of their
    metric and kind of test games on the page.

    shown: the evaluations and metrics of which the page shows effects, None: of all that there are; asked: whether a
    contrast of a report is on the page.
    """
    contrasts = ((report, each) for report in reports for each in report.results.study.contrasts)
    rows = _rows(pair for pair in contrasts if asked(*pair))
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
                level = page_level(judged, effect.q, thresholds.alpha)
                could_show = smallest_shown(effect.se, effect.df, level, thresholds)
            verdict = row.report.results.unjudged or judge_effect(effect, better, thresholds)
            at_base = row.report.analyses[number, metric].at_base.get(row.card)
            row.effects[number, metric] = OnPage(effect, verdict, at_base, could_show)
    return rows


def _rows(asked: Iterable[tuple[Any, Contrast]]) -> list[PageRow]:
    """Of several studies that ask for an enhancement in one group a finished one, then that with looks, whose p is that
    of all of them, then that with the most runs of its own."""
    best: dict[tuple, tuple[tuple, PageRow]] = {}
    for report, contrast in asked:
        results, study = report.results, report.results.study
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
