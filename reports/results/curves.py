"""Values of progress lines, and the bands of curves."""

import math
from collections.abc import Mapping

import numpy as np

from ablations.study import Arm
from gonn_core.errors import printable
from gonn_core.go.points import POINTS
from reports.results.study_results import StudyResults
from reports.stats.estimates import quantile

UNIFORM = math.log(POINTS)
"""Nats of a net that gives every point the same probability."""


def curve_value(line: Mapping[str, float], metric: str) -> float | None:
    """The line's number; None where it has none, as in trials from before it was kept.

    A line tells `train_loss` only where what is minimised is not the cross-entropy of the next move, `train_nats`.
    """
    if metric == "train_loss" and metric not in line:
        return line.get("train_nats")
    return line.get(metric)


def half_width(deltas: np.ndarray) -> float:
    """Half of the 95 % t interval of a mean over seeds; not a number for a single seed."""
    n = len(deltas)
    return float(quantile(0.975, n - 1) * deltas.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan


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
