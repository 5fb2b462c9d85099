"""Whether an effect grows or fades with samples: effects measured at several numbers of them, a straight line over
log2 samples."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from reports.stats.estimates import Effect, Interval, Spread


class Course(StrEnum):
    """How the size of an effect goes with samples."""

    GROWING = "growing"
    FADING = "fading"
    STEADY = "steady"
    UNSETTLED = "not settled"


@dataclass(frozen=True)
class Trend:
    """effects: by rising samples; slope: nats per doubling of the samples, its 95 % interval and two-sided p."""

    effects: Mapping[int, Effect]
    slope: float
    interval95: Interval
    p: float
    course: Course


def trend(effects: Mapping[int, Effect], alpha: float, margin: float) -> Trend | None:
    """Weighted least squares of the effects on log2 samples, by their own standard errors; None with fewer than two
    that have one.

    growing, fading: the slope differs from 0 at `alpha`, away from or towards 0 by the sign of the weighted mean of
    the effects. steady: its 90 % interval lies within ±margin. The studies share no trial, so the effects are
    independent but for their test games; what these have in common falls out of a slope, which makes the interval a
    little too wide. Degrees of freedom as of any sum of variances here: V / df = sum(V_i / df_i).
    """
    known = {samples: effect for samples, effect in sorted(effects.items()) if effect.se and effect.df}
    if len(known) < 2:
        return None
    at = np.log2(np.array(list(known), dtype=float))
    deltas = np.array([effect.delta for effect in known.values()])
    errors, dfs = (np.array([getattr(effect, name) for effect in known.values()]) for name in ("se", "df"))
    weights = errors**-2
    centred = at - np.average(at, weights=weights)
    shares = weights * centred / (weights * centred**2).sum()
    variances = (shares * errors) ** 2
    slope, total = float(shares @ deltas), float(variances.sum())
    spread = Spread(math.sqrt(total), total / float((variances / dfs).sum()))
    p = spread.p_value(slope)
    course = Course.UNSETTLED
    if p < alpha:
        course = Course.GROWING if slope * np.average(deltas, weights=weights) > 0 else Course.FADING
    elif spread.interval(slope, 0.90).within(margin):
        course = Course.STEADY
    return Trend(known, slope, spread.interval(slope, 0.95), p, course)
