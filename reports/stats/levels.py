"""Means over the seeds of one arm: a level, as an effect whose other side is a number that is known."""

import numpy as np

from reports.stats.clusters import ArmResult, evaluation_noise
from reports.stats.estimates import Effect, sign_flip_p, spread


def mean_effect(name: str, arm: ArmResult, counted_from: float = 0.0) -> Effect:
    """Mean over seeds of a metric less `counted_from`, with the noise of its seeds and games; without intervals for a
    single seed.

    Student's t on its own seeds: the pool of seed noise is one of paired differences, which say nothing of the spread
    of a level. p_adjusted is p, of a family of one.
    """
    n, values = len(arm.seeds), arm.means - counted_from
    delta, noise = float(values.mean()), evaluation_noise([(1.0, arm.sums)], arm.counts)
    variance = float(values.var(ddof=1)) / n if n > 1 else None
    total = None if variance is None else spread(variance, n - 1, noise)
    p = None if total is None else total.p_value(delta)
    interval95, interval90 = (None if total is None else total.interval(delta, level) for level in (0.95, 0.90))
    return Effect(
        name=name,
        n=n,
        seeds=arm.seeds,
        delta=delta,
        deltas=tuple(values.tolist()),
        paired=True,
        pooled=False,
        se_seed=None if variance is None else float(np.sqrt(variance)),
        se_eval=float(np.sqrt(noise.common)),
        se=None if total is None else total.se,
        df=None if total is None else total.df,
        interval95=interval95,
        interval90=interval90,
        own_interval95=interval95,
        p=p,
        p_adjusted=p,
        p_sign_flip=sign_flip_p(values),
        correlation=None,
        weights={},
        control_seeds=n,
    )
