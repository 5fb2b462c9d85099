"""Effects that several studies measured at different numbers of samples, all else alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ablations.study import Contrast
from reports.results.compare import study_thresholds
from reports.results.group import MAIN
from reports.stats.estimates import Effect
from reports.stats.family import adjust
from reports.stats.verdicts import EffectVerdict, judge_effect
from reports.study.report import Report
from reports.worth.controls import comparison_key
from reports.worth.trend import Trend, trend


@dataclass(frozen=True)
class Measured:
    """An effect on the loss at one number of samples, p adjusted over all of this page at these samples."""

    report: Report
    contrast: Contrast
    samples: int
    effect: Effect
    verdict: EffectVerdict

    @property
    def own_p(self) -> float | None:
        """p adjusted within its study."""
        effect = self.report.analyses[MAIN, "nats"].effect(self.contrast.card)
        return None if effect is None else effect.p_adjusted


@dataclass(frozen=True)
class Course:
    """One enhancement on one base under one budget: its effects by rising samples, and their trend."""

    card: str
    label: str
    measured: tuple[Measured, ...]
    trend: Trend | None

    @property
    def effects(self) -> dict[int, Effect]:
        """By samples."""
        return {each.samples: each.effect for each in self.measured}


def courses(reports: Sequence[Report]) -> list[Course]:
    """Every effect that was measured at two or more numbers of samples; of several studies at one number the one with
    most seeds."""
    found: dict[tuple, dict[int, Measured]] = {}
    for each in _measured(reports):
        by_samples = found.setdefault(comparison_key(each.report.study, each.contrast), {})
        known = by_samples.get(each.samples)
        if known is None or each.effect.n > known.effect.n:
            by_samples[each.samples] = each
    several = {key: by_samples for key, by_samples in found.items() if len(by_samples) > 1}
    adjusted = {(key, each.samples): each for key, by in several.items() for each in by.values()}
    for family in {_family(each) for each in adjusted.values()}:
        members = {key: each for key, each in adjusted.items() if _family(each) == family}
        names = {str(number): key for number, key in enumerate(members)}
        p_values = adjust({name: members[key].effect for name, key in names.items() if _judged(members[key])})
        for name, p in p_values.items():
            adjusted[names[name]] = _with_p(members[names[name]], p)
    return sorted(
        (_course(tuple(adjusted[key, samples] for samples in sorted(by))) for key, by in several.items()),
        key=lambda course: (course.label, course.card),
    )


def _measured(reports: Sequence[Report]):
    for report in reports:
        nats, samples = report.analyses[MAIN, "nats"], report.study.arms[0].config.training.samples
        for contrast in report.study.contrasts:
            effect, verdict = nats.effect(contrast.card), nats.verdict(contrast.card)
            if effect is not None and verdict is not None and report.results.unjudged is None:
                yield Measured(report, contrast, samples, effect, verdict)


def _judged(each: Measured) -> bool:
    return each.effect.n >= study_thresholds(each.report.study).min_seeds


def _with_p(each: Measured, p: float) -> Measured:
    effect, thresholds = replace(each.effect, p_adjusted=p), study_thresholds(each.report.study)
    table = each.report.analyses[MAIN, "nats"].table
    assert table is not None  # it holds the effect
    return replace(
        each, effect=effect, verdict=judge_effect(effect, "lower", table.margins[each.contrast.card], thresholds)
    )


def _course(measured: tuple[Measured, ...]) -> Course:
    study, card = measured[0].report.study, measured[0].contrast.card
    thresholds = study_thresholds(study)
    found = trend({each.samples: each.effect for each in measured}, thresholds.alpha, thresholds.smallest("nats"))
    return Course(card, f"{study.base} ({study.budget_label}, {study.data})", measured, found)


def _family(each: Measured) -> tuple:
    study = each.report.study
    main = study.evaluations[MAIN]
    return study.base, study.budget_label, study.data, each.samples, main.subset, main.history
