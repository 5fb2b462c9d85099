"""What a number of seeds can show, planned from the seed noise measured so far."""

import math
from collections.abc import Sequence

from scipy.optimize import brentq
from scipy.special import chdtri, nctdtr, nctdtrinc, ndtr

from reports.stats.estimates import quantile
from reports.stats.looks import Exits, bound_of, exits, planned_level
from reports.stats.model import RunNoise
from reports.stats.verdicts import Thresholds

FAR = 1000.0
"""Critical t beyond which scipy's noncentral t takes minutes, and the noise of the variance is all that counts."""


def smallest_effect(noise: RunNoise, evaluation_variance: float, seeds: int, thresholds: Thresholds) -> float:
    """The |effect| that so many seeds an arm show (helps or hurts) with `thresholds.power`, as a single one. ValueError
    below two seeds.

    The variance is 2 noise / seeds + evaluation_variance (the part that seeds do not shrink, about proportional to
    1 / games), with the degrees of freedom of a moderated one (`reports.stats.model`).
    """
    if seeds < 2:
        raise ValueError(f"seeds {seeds}: want at least 2")
    df = seeds - 1 + min(thresholds.noise_weight, noise.df)
    return smallest_shown(math.sqrt(2 * noise.run**2 / seeds + evaluation_variance), df, thresholds.alpha, thresholds)


def smallest_shown(se: float, df: float, level: float, thresholds: Thresholds) -> float:
    """The |effect| whose p is below `level` with `thresholds.power`, by an estimate with this standard error."""
    # The noncentral t whose lower tail at the critical value is 1 - power; significance with the wrong sign is no
    # success.
    critical = quantile(1 - level / 2, df)
    if critical > FAR:
        return critical * math.sqrt(float(chdtri(df, 1 - thresholds.power)) / df) * se
    return float(nctdtrinc(df, 1 - thresholds.power, critical)) * se


def page_level(q: Sequence[float], alpha: float) -> float:
    """The p at which one more effect would be shown on a page whose effects have these q."""
    return alpha * min(len(q), 1 + sum(each <= alpha for each in q)) / len(q)


def course(
    seeds: Sequence[int],
    effect: float,
    noise: RunNoise,
    evaluation_variance: float,
    thresholds: Thresholds,
    futility: float | None = None,
) -> Exits:
    """How looks at `seeds` go where there is an `effect` (metric's unit), as a single one.

    evaluation_variance: as of `smallest_effect`. Normal, as `reports.stats.looks`, with the bound and mean at which
    each look by itself shows the effect as often as its t test does.
    """
    bound = bound_of(planned_level(tuple(seeds), thresholds.alpha))
    errors = [math.sqrt(2 * noise.run**2 / count + evaluation_variance) for count in seeds]
    means, small = [], []
    for count, error in zip(seeds, errors, strict=True):
        df = count - 1 + min(thresholds.noise_weight, noise.df)
        critical, shift = -quantile(float(ndtr(-bound)), df), abs(effect) / error
        power = float(1 - nctdtr(df, shift, critical) + nctdtr(df, shift, -critical))
        if math.isnan(power):  # an effect of many standard errors, beyond what scipy's series reaches
            power = float(ndtr(shift - critical))
        mean = _mean(bound, power) if shift else 0.0
        within = 0.0
        if futility is not None:  # moved with the mean, so that it is met as often
            within = futility / error - quantile(0.5 + thresholds.equivalence_level / 2, df) - (shift - mean)
        means.append(mean)
        small.append(within)
    return exits([error**-2 for error in errors], [bound] * len(errors), means, small)


def _mean(bound: float, power: float) -> float:
    """The mean of Z at which it is beyond ±bound so often."""

    def excess(mean: float) -> float:
        return float(ndtr(mean - bound) + ndtr(-mean - bound)) - power

    most = bound + 9.0
    if excess(0.0) >= 0:
        return 0.0
    return most if excess(most) <= 0 else float(brentq(excess, 0.0, most))
