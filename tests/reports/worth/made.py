"""Effects and curves with made-up numbers."""

import numpy as np

from reports.stats.clusters import EvaluationNoise
from reports.stats.estimates import Effect, spread
from reports.worth.curve import ControlCurve, CurvePoint

SAMPLES = (25_000, 50_000, 100_000, 200_000)


def effect(delta: float, se: float, df: float = 6.0, n: int = 4, seeds=(1, 2, 3, 4)) -> Effect:
    """An effect whose noise is all of seeds."""
    total = spread(se**2, df, EvaluationNoise(0.0, 0.0, 100))
    return Effect(
        name="made_up", n=n, seeds=tuple(seeds), delta=delta, deltas=(), paired=True, pooled=True, se_seed=se,
        se_eval=0.0, se=total.se, df=total.df, interval95=total.interval(delta, 0.95),
        interval90=total.interval(delta, 0.90), own_interval95=None, p=total.p_value(delta), p_adjusted=None,
        correlation=None, weights={}, control_seeds=n,
    )  # fmt: skip


def curve(runs, samples=SAMPLES) -> ControlCurve:
    """A curve through runs (numbers, seeds)."""
    points = [
        CurvePoint(count, dict(enumerate(np.asarray(nats, dtype=float).tolist(), 1)), ())
        for count, nats in zip(samples, runs, strict=True)
    ]
    return ControlCurve("made up", tuple(points))
