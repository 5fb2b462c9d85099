"""Values of progress lines, and the bands of curves."""

import math
from collections.abc import Mapping

import numpy as np

from gonn_core.go.points import POINTS
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
