"""Curves of a study as plain data for the charts of a page: validation nats over samples by arm, paired differences."""

import math
from collections.abc import Sequence

import numpy as np

from ablations.study import Arm
from gonn_core.errors import printable
from reports.results.compare import StudyAnalysis, paired_curve
from reports.results.curves import UNIFORM, half_width
from reports.results.study_results import StudyResults

_DIGITS = 4


def study_curves(results: StudyResults, nats: StudyAnalysis) -> dict | None:
    """What the charts of a study are drawn from; None while no trial has a progress point.

    arms: seeds (a line each) and their mean where all seeds of the arm that got anywhere have a point; differences:
    means over pairs with 95 % bands over seeds, and effects on the test games with their intervals.
    """
    study, many = results.study, results.study.design == "screen"
    counts = sorted({line["samples"] for trial in results.trials for line in trial.curve if "nats" in line})
    if not counts:
        return None
    arms = [_arm(results, arm, counts, thin=many and bool(index)) for index, arm in enumerate(study.arms)]
    return {
        "title": printable(study.title, 160),
        "id": study.id,
        "samples": counts,
        "total": max(arm.config.training.samples for arm in study.arms),
        "uniform": round(UNIFORM, _DIGITS),
        "arms": arms,
        "differences": _differences(results, nats, counts),
    }


def _arm(results: StudyResults, arm: Arm, counts: Sequence[int], thin: bool) -> dict:
    lines = []
    for trial in results.of_arm(arm.id):
        points = {line["samples"]: line["nats"] for line in trial.curve if "nats" in line}
        lines.append([points.get(count) for count in counts])
    at = [[value for value in values if value is not None] for values in zip(*lines, strict=True)] if lines else []
    most = max(map(len, at), default=0)
    mean = [float(np.mean(values)) if values and len(values) == most else None for values in at]
    planned = results.due_seeds(arm.id)
    label = printable(arm.label, 60) + ("" if most == planned else f" ({most} of {planned} seeds)")
    return {"label": label, "thin": thin, "seeds": [_rounded(line) for line in lines], "mean": _rounded(mean)}


def _differences(results: StudyResults, nats: StudyAnalysis, counts: Sequence[int]) -> list[dict]:
    study, found = results.study, []
    if study.design == "screen":  # what arms differ by there is many enhancements at once
        return []
    for contrast in study.contrasts:
        curve = paired_curve(results, contrast) if study.pairing == "by_position" else {}
        if not curve:
            continue
        effect, tested = nats.effect(contrast.card), None
        if effect is not None:
            ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else [None, None]
            tested = _rounded([effect.delta, *ends])
        bands = {count: (float(deltas.mean()), half_width(deltas)) for count, deltas in curve.items()}
        at = [bands.get(count, (math.nan, math.nan)) for count in counts]
        found.append(
            {
                "label": printable(contrast.card, 60),
                "mean": _rounded([mean for mean, _ in at]),
                "low": _rounded([mean - half for mean, half in at]),
                "high": _rounded([mean + half for mean, half in at]),
                "tested": tested,
            }
        )
    return found


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or not math.isfinite(value) else round(value, _DIGITS) for value in values]


ABOVE = (
    "Above: validation nats over samples; thin lines are seeds, thick ones their mean. What is worse than a uniform "
    f"guess ({UNIFORM:.2f} nats) is cut off, with a triangle at the edge."
)
BELOW = (
    "Below: paired difference, with minus without (below 0: helps), with its 95 % band over seeds; right of the last "
    "sample the effect on the test games with its interval, as in the table."
)


def caption(curves: Sequence[dict]) -> str:
    """What the charts of these studies show, in words."""
    return f"{ABOVE} {BELOW}" if any(each["differences"] for each in curves) else ABOVE
