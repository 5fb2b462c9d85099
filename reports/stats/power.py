"""What a number of seeds can show, planned from the seed noise measured so far."""

import math
from collections.abc import Sequence

from scipy.special import chdtri, nctdtrinc

from reports.stats.estimates import quantile
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
