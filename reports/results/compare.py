"""The statistics of a study: `reports.stats.analysis` on the sums by game that its trials left behind."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ablations.study import Arm, Contrast, Study
from gonn_core.config import trial_id
from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS
from reports.results.curves import curve_value
from reports.results.decisions import Look, last_looks, shown_before
from reports.results.study_results import StudyResults
from reports.stats.analysis import Comparison, TableAnalysis, analyse_comparisons, estimate_comparisons
from reports.stats.clusters import ArmResult
from reports.stats.estimates import Effect
from reports.stats.linear import analyse_runs, estimate_runs
from reports.stats.runs import Runs
from reports.stats.seed_noise import Differences
from reports.stats.verdicts import EffectVerdict, Thresholds, judge_effect

MAIN = 0
"""The first evaluation of a study fills its table."""
OF_RUNS = ("factorial", "screen")
"""Designs in which every run counts for many effects: `reports.stats.linear`; the others compare arms by seed."""


@dataclass(frozen=True)
class StudyAnalysis:
    """Effects of one metric on one evaluation. `table` is None when no contrast has results yet.

    left_out: contrasts without results, with the reason in words.
    """

    metric: str
    table: TableAnalysis | None
    left_out: Mapping[str, str]

    def effect(self, card: str) -> Effect | None:
        """The effect of a card, None when it has no results yet."""
        return None if self.table is None else self.table.effects.get(card)

    def verdict(self, card: str) -> EffectVerdict | None:
        """The verdict on that effect."""
        return None if self.table is None else self.table.verdicts.get(card)


def study_thresholds(study: Study) -> Thresholds:
    """The thresholds that were written down before the first trial. Raises SettingError for those of another
    version."""
    try:
        return Thresholds.of_study(study.thresholds)
    except ValueError as error:
        raise SettingError("STUDY", study.id, f"its thresholds are of another version: {error}") from None


@cache
def _key(config) -> str:
    return trial_id(config)


def arm_key(arm: Arm) -> str:
    """Key of an arm that is the same in every study with the same configuration, so that shared controls are known as
    such."""
    return _key(arm.config)


def comparison(study: Study, contrast: Contrast) -> Comparison:
    """A contrast of the study over keys of arms."""
    with_it, without = ([arm_key(study.arm(arm)) for arm in side] for side in (contrast.with_it, contrast.without))
    lone, more = _extra_seeds(study, contrast)
    return Comparison(with_it, without, study.pairing == "by_position", lone, more)


def _extra_seeds(study: Study, contrast: Contrast) -> tuple[str | None, tuple[int, ...]]:
    """The arm of a pair that the study trains on more seeds than the other, its key, and those seeds."""
    if len(contrast.with_it) + len(contrast.without) > 2 or study.design in OF_RUNS:
        return None, ()
    sides = contrast.with_it[0], contrast.without[0]
    for lone, other in (sides, sides[::-1]):
        own, theirs = study.trials_of(lone), study.trials_of(other)
        if own.keys() > theirs.keys():
            return arm_key(study.arm(lone)), tuple(seed for seed in own if seed not in theirs)
    return None, ()


def analyse_study(
    results: StudyResults,
    metric: str,
    evaluation: int = MAIN,
    claimed: Mapping[str, float] | None = None,
    prior: Mapping[str, Differences] | None = None,
) -> StudyAnalysis:
    """Effects of all contrasts that have results, on one metric of one evaluation (its number in the study).

    metric: one that is read from positions, or from the last progress line of each trial (train_nats: the training loss
    since the last but one; `reports.results.curves`).
    claimed: the size claimed for a card, for the margin of `no effect`; prior: see `analyse_comparisons`. Of a study
    that plans looks each card is analysed as it stood at its look (`reports.results.decisions`). What is not judged
    (`StudyResults.unjudged`) has no p.
    """
    looks = results.study.looks
    if looks is None or not results.looks:  # with looks: before the first one, and where there is but one
        level = None if looks is None else looks.levels[looks.spent]
        return _as_judged(results, _analyse_metric(results, metric, evaluation, claimed, prior, level))
    at = last_looks(results.study, results.looks)
    tables = {}
    for number, look in enumerate(results.looks):
        if any(each is look for each in at.values()):
            shown = shown_before(results.looks[:number])
            tables[look.seeds] = _analyse_metric(
                results.first(look.seeds), metric, evaluation, claimed, prior, look.level, shown
            )
    return _as_judged(results, _merged(results.study, tables, at, (metric, evaluation) == ("nats", MAIN)))


def _as_judged(results: StudyResults, analysis: StudyAnalysis) -> StudyAnalysis:
    """Without any p, and with what stands in place of the verdicts, where nothing is judged."""
    table, word = analysis.table, results.unjudged
    if table is None or word is None:
        return analysis
    effects = {card: replace(each, p=None, p_adjusted=None) for card, each in table.effects.items()}
    return replace(analysis, table=replace(table, effects=effects, verdicts=dict.fromkeys(effects, word)))


def at_next_look(results: StudyResults, seeds: int, level: float, prior: Mapping[str, Differences]) -> StudyAnalysis:
    """Effects on the loss on the study's first so many seeds, for a look that is being taken."""
    return _analyse_metric(results.first(seeds), "nats", MAIN, None, prior, level, shown_before(results.looks))


def _merged(study: Study, tables: Mapping[int, StudyAnalysis], at: Mapping[str, Look], decisive: bool) -> StudyAnalysis:
    """Each card from the table of its look, all else from the last one; `decisive`: looks decided on these effects,
    whose adjusted p stand as they were."""
    last = tables[max(tables)]
    own = {card: tables[look.seeds] for card, look in at.items()}
    left_out = {card: analysis.left_out[card] for card, analysis in own.items() if card in analysis.left_out}
    parts = {card: analysis.table for card, analysis in own.items() if analysis.table and card not in left_out}
    if last.table is None or not parts:
        return replace(last, left_out=left_out)
    effects = {card: table.effects[card] for card, table in parts.items()}
    verdicts = {card: table.verdicts[card] for card, table in parts.items()}
    margins = {card: table.margins[card] for card, table in parts.items()}
    better = METRICS[last.metric].better
    if decisive and better is not None:
        effects = {card: replace(each, p_adjusted=at[card].cards[card].p_adjusted) for card, each in effects.items()}
        thresholds = study_thresholds(study)
        verdicts = {card: judge_effect(each, better, margins[card], thresholds) for card, each in effects.items()}
    differences = {card: table.differences[card] for card, table in parts.items() if card in table.differences}
    table = replace(last.table, effects=effects, verdicts=verdicts, margins=margins, differences=differences)
    return replace(last, table=table, left_out=left_out)


def _analyse_metric(
    results: StudyResults,
    metric: str,
    evaluation: int,
    claimed: Mapping[str, float] | None,
    prior: Mapping[str, Differences] | None,
    level: float | None = None,
    decided: Collection[str] = (),
) -> StudyAnalysis:
    """All contrasts at once, on the trials that `results` has."""
    options = {"claims": claimed, "prior": prior, "level": level, "decided": decided}
    if METRICS[metric].source == "curve":
        analysis = _analyse(results, metric, lambda arm: last_of_curve(results, arm, metric), options)
        reasons = {card: f"{reason} with {METRICS[metric].title}" for card, reason in analysis.left_out.items()}
        return replace(analysis, left_out=reasons)
    if METRICS[metric].source == "gap":
        analysis = _analyse(results, metric, lambda arm: error_gap(results, arm, evaluation), options)
        reasons = {card: f"{reason} that minimises the squared error" for card, reason in analysis.left_out.items()}
        return replace(analysis, left_out=reasons)
    return _analyse(results, metric, lambda arm: results.arm_result(arm, evaluation, metric), options)


def extra_effects(results: StudyResults, metric: str) -> dict[str, Effect]:
    """Effects by card on a metric of positions on the main evaluation, without verdicts; of the
    contrasts that have results."""
    by_key, comparisons, left_out = _comparisons(results, lambda arm: results.arm_result(arm, MAIN, metric))
    estimate = estimate_runs if results.study.design in OF_RUNS else estimate_comparisons
    none = len(left_out) == len(results.study.contrasts)
    return {} if none else estimate(by_key, comparisons, study_thresholds(results.study))


def _analyse(
    results: StudyResults, metric: str, read: Callable[[str], ArmResult | None], options: dict[str, Any]
) -> StudyAnalysis:
    by_key, comparisons, left_out = _comparisons(results, read)
    table = None
    if len(left_out) < len(results.study.contrasts):
        better = METRICS[metric].better
        assert better is not None, f"{metric} is not judged"
        analyse = analyse_runs if results.study.design in OF_RUNS else analyse_comparisons
        table = analyse(by_key, comparisons, study_thresholds(results.study), better, metric=metric, **options)
    return StudyAnalysis(metric, table, left_out)


def _comparisons(results: StudyResults, read: Callable[[str], ArmResult | None]):
    """Arms by key, comparisons by card, and why the other cards have none. Where runs are compared, all comparisons: an
    effect is told from the others even where those are not known."""
    study = results.study
    arms = {arm.id: result for arm in study.arms if (result := read(arm.id)) is not None}
    if study.design in OF_RUNS:
        by_key = {arm_key(study.arm(arm)): result for arm, result in arms.items()}
        every = {contrast.card: comparison(study, contrast) for contrast in study.contrasts}
        return by_key, every, runs_lacking(by_key, every)
    left_out = {contrast.card: reason for contrast in study.contrasts if (reason := _lacking(study, contrast, arms))}
    comparisons = {
        contrast.card: comparison(study, contrast) for contrast in study.contrasts if contrast.card not in left_out
    }
    return {arm_key(study.arm(arm)): result for arm, result in arms.items()}, comparisons, left_out


def study_runs(results: StudyResults, metric: str, evaluation: int) -> Runs | None:
    """The runs of a study on a metric of positions, for designs in which they count for many effects; None while there
    are none."""
    by_key, comparisons, _ = _comparisons(results, lambda arm: results.arm_result(arm, evaluation, metric))
    return Runs(by_key, comparisons) if by_key else None


def run_counts(results: StudyResults, contrast: Contrast, evaluation: int) -> tuple[int, int, int]:
    """Runs with and without a card that have an evaluation, and how many were planned in all."""
    sides = [
        sum(len(results.evaluated(arm, evaluation)) for arm in side) for side in (contrast.with_it, contrast.without)
    ]
    arms = {*contrast.with_it, *contrast.without}
    return sides[0], sides[1], sum(trial.arm in arms for trial in results.study.trials)


def runs_lacking(arms: Mapping[str, ArmResult], comparisons: Mapping[str, Comparison]) -> dict[str, str]:
    """Card -> why runs do not tell its effect, of the cards whose effect they do not."""
    return Runs(arms, comparisons).lacking() if arms else dict.fromkeys(comparisons, "no finished run")


def _lacking(study: Study, contrast: Contrast, arms: Mapping[str, ArmResult]) -> str | None:
    """Why a contrast cannot be computed, None when it can."""
    used = [*contrast.with_it, *contrast.without]
    if missing := [arm for arm in used if arm not in arms]:
        return f"no finished trial of {', '.join(missing)}"
    if study.pairing == "by_position" and not set.intersection(*(set(arms[arm].seeds) for arm in used)):
        return f"no seed is finished in all of {', '.join(used)}"
    return None


def last_of_curve(results: StudyResults, arm: str, metric: str) -> ArmResult | None:
    """What the last progress line of each of an arm's trials says of a metric, by seed; None when no trial is done, or
    none says it.

    No games stand behind it, so the seed alone is the unit: all of a seed's "games" are equal and add no evaluation
    noise.
    """
    values = {}
    for trial in results.of_arm(arm):
        value = curve_value(trial.curve[-1], metric) if trial.result is not None and trial.curve else None
        if value is not None:
            values[trial.seed] = value
    return by_seed_alone(values) if values else None


def error_gap(results: StudyResults, arm: str, evaluation: int) -> ArmResult | None:
    """Squared error over all output planes on an evaluation, less that in training since the last progress line but
    one; None for nets that minimise anything else, and where one of the two is not there.

    Games stand behind the former alone.
    """
    config = results.study.arm(arm).config
    training, several = config.training, config.net.residual.output_planes > 1
    alone = training.loss_from == 0 and not any(training.auxiliary.model_dump().values())
    if training.loss != "squared_error" or training.plane_weights != "mean" or not alone:
        return None
    tested = results.arm_result(arm, evaluation, "squared_error_planes" if several else "squared_error")
    trained = last_of_curve(results, arm, "train_loss")
    if tested is None or trained is None or set(tested.seeds) != set(trained.seeds):
        return None
    errors = {seed: sums[0] for seed, sums in zip(trained.seeds, trained.sums, strict=True)}
    less = np.outer([errors[seed] for seed in tested.seeds], tested.counts)
    return ArmResult(tested.seeds, tested.sums - less, tested.counts)


def by_seed_alone(values: Mapping[int, float]) -> ArmResult:
    """An ArmResult of one value per seed, without any noise between games."""
    return ArmResult(tuple(values), np.outer(list(values.values()), np.ones(2)), np.ones(2))


def used_trials(results: StudyResults, contrast: Contrast, effect: Effect, evaluation: int) -> tuple[str, ...]:
    """Trials behind an effect: those of its seeds, or all evaluated ones of an unpaired effect."""
    arms = (*contrast.with_it, *contrast.without)
    evaluated = {arm: results.evaluated(arm, evaluation) for arm in arms}
    return tuple(
        trial.id for arm in arms for seed, trial in evaluated[arm].items() if not effect.paired or seed in effect.seeds
    )


def paired_curve(results: StudyResults, contrast: Contrast) -> dict[int, np.ndarray]:
    """Samples -> differences in nats on the validation progress subset, of the seeds of which all arms got that far, by
    rising seed."""
    points: dict[int, dict[int, dict[str, float]]] = {}
    arms = (*contrast.with_it, *contrast.without)
    for arm in arms:
        for trial in results.of_arm(arm):
            for line in trial.curve:
                if "nats" in line:
                    points.setdefault(line["samples"], {}).setdefault(trial.seed, {})[arm] = line["nats"]
    curve = {}
    for count in sorted(points):
        whole = [values for _, values in sorted(points[count].items()) if len(values) == len(arms)]
        if whole:
            sides = [
                np.mean([[values[arm] for arm in side] for values in whole], axis=1)
                for side in (contrast.with_it, contrast.without)
            ]
            curve[count] = sides[0] - sides[1]
    return curve
