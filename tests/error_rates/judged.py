"""Made runs judged by the project, and what can go wrong in a table."""

from collections.abc import Mapping, Sequence

import numpy as np

from reports.stats.estimates import Effect
from reports.stats.mixed import DesignMatrix
from reports.stats.model import Model
from reports.stats.verdicts import Thresholds, judge_effect, with_q
from tests.error_rates.made import Runs

THRESHOLDS = Thresholds()
COVERED, NOISY = "covered", "covered, noisy"
FALSE, POWER, ANY = "false among those shown", "shown of those that are", "any shown"


def model_of(runs: Runs) -> Model:
    design = DesignMatrix(runs.changes, [str(level) for level in range(runs.changes.shape[1])], runs.seeds.tolist())
    return Model(design, runs.sums, runs.lengths)


def effects_of(model: Model) -> tuple[dict[int, Effect], dict[int, Effect]]:
    """Of every level that the runs separate, judged among themselves; and those at the base where the first are
    means."""
    units = np.eye(len(model.design.settings))
    told = [level for level, unit in enumerate(units) if model.design.separates(unit)]
    found = {level: model.effect(str(level), units[level]) for level in told}
    at_base = {level: each for level in told if (each := model.at_base(str(level), units[level])) is not None}
    return with_q(found, THRESHOLDS), with_q(at_base, THRESHOLDS)


def covered(effect: Effect, truth: float = 0.0) -> bool:
    """Whether the 95 % interval holds the true effect."""
    assert effect.interval95 is not None
    return effect.interval95.low <= truth <= effect.interval95.high


def is_shown(effect: Effect) -> bool:
    return judge_effect(effect, "lower", THRESHOLDS).is_shown


def false_share(shown: Mapping[int, Effect], truths: Sequence[float] | np.ndarray) -> float:
    """Of the effects that are shown, those without any or of the other sign."""
    wrong = [level for level, each in shown.items() if each.delta * truths[level] <= 0]
    return len(wrong) / max(len(shown), 1)


def answers(
    effects: Mapping[int, Effect], truths: Sequence[float] | np.ndarray, noisy: Sequence[int] = ()
) -> dict[str, float]:
    """What happened in a table, by question."""
    hits = {level: covered(each, truths[level]) for level, each in effects.items() if each.interval95 is not None}
    shown = {level: each for level, each in effects.items() if is_shown(each)}
    real = [level for level in effects if abs(truths[level]) >= 0.015]
    return {
        COVERED: float(np.mean([hit for level, hit in hits.items() if level not in noisy] or [np.nan])),
        NOISY: float(np.mean([hits[level] for level in noisy if level in hits] or [np.nan])),
        FALSE: false_share(shown, truths),
        POWER: float(np.mean([level in shown for level in real])) if real else np.nan,
        ANY: float(bool(shown)),
    }
