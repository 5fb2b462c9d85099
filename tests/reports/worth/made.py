"""Effects and curves with made-up numbers."""

import numpy as np

from reports.stats.estimates import Effect, EvaluationNoise, effect_of
from reports.worth.curve import ControlCurve, CurvePoint

SAMPLES = (25_000, 50_000, 100_000, 200_000)


def effect(delta: float, se: float, df: float = 6.0, n: int = 4, of_base: float = 0.0) -> Effect:
    """An effect whose noise is all of runs."""
    return effect_of("made_up", delta, (se**2, df), EvaluationNoise(0.0, 0.0, 100), (n, n), of_base)


def curve(runs, samples=SAMPLES) -> ControlCurve:
    """A curve through runs (numbers, seeds)."""
    points = [
        CurvePoint(count, dict(enumerate(np.asarray(nats, dtype=float).tolist(), 1)), ())
        for count, nats in zip(samples, runs, strict=True)
    ]
    return ControlCurve("made up", tuple(points))
