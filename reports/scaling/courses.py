"""Effects that several studies measured at different numbers of samples, all else alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ablations.study import Contrast
from reports.stats.estimates import Effect
from reports.stats.verdicts import EffectVerdict, judge_effect, with_q
from reports.study.report import Report
from reports.worth.controls import comparison_key
from reports.worth.trend import Trend, trend


@dataclass(frozen=True)
class Measured:
    """An effect on the loss at one number of samples, as between two arms: means over the others would be other
    questions at other samples. Its q is over this page."""

    report: Report
    contrast: Contrast
    samples: int
    effect: Effect

    @property
    def verdict(self) -> EffectVerdict:
        return judge_effect(self.effect, "lower", self.report.study.thresholds)


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
    most runs."""
    found: dict[tuple, dict[int, Measured]] = {}
    for each in _measured(reports):
        by_samples = found.setdefault(comparison_key(each.report.study, each.contrast), {})
        known = by_samples.get(each.samples)
        if known is None or each.effect.n > known.effect.n:
            by_samples[each.samples] = each
    several = {(key, each): by[each] for key, by in found.items() if len(by) > 1 for each in sorted(by)}
    if not several:
        return []
    thresholds = next(iter(several.values())).report.study.thresholds
    effects = with_q({key: each.effect for key, each in several.items()}, thresholds)
    measured: dict[tuple, list[Measured]] = {}
    for (key, samples), effect in effects.items():
        measured.setdefault(key, []).append(replace(several[key, samples], effect=effect))
    return sorted(map(_course, measured.values()), key=lambda course: (course.label, course.card))


def _measured(reports: Sequence[Report]):
    for report in reports:
        samples = report.study.arms[0].config.training.samples
        for contrast in report.study.contrasts:
            effect = report.nats.in_arms(contrast)
            if effect is not None and report.results.unjudged is None:
                yield Measured(report, contrast, samples, effect)


def _course(measured: Sequence[Measured]) -> Course:
    study, card = measured[0].report.study, measured[0].contrast.card
    thresholds = study.thresholds
    found = trend({each.samples: each.effect for each in measured}, thresholds.alpha, thresholds.smallest("nats"))
    return Course(card, f"{study.base} ({study.budget_label}, {study.data})", tuple(measured), found)
