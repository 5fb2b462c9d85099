"""What a number of seeds can show, planned from the seed noise measured so far."""

import math
from collections.abc import Sequence

from scipy.optimize import brentq
from scipy.special import nctdtr, nctdtrinc, ndtr

from reports.stats.estimates import quantile
from reports.stats.family import Test, nominal_level
from reports.stats.looks import Exits, bound_of, exits
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import Thresholds


def smallest_effect(
    pool: SeedPool | None, evaluation_variance: float, seeds: int, thresholds: Thresholds, toggles: int = 1
) -> float | None:
    """The |effect| that `seeds` paired seeds show (helps or hurts) with `thresholds.power`; None without a pool to plan
    from.

    Treatments with one control. Paired t with variance pool/n + evaluation_variance (the part that seeds do not shrink,
    see `TableAnalysis.evaluation_variance`; about proportional to 1/games), on the degrees of freedom of a moderated
    variance (those of the evaluation are not counted, to be on the safe side), at the level that one true effect among
    `toggles` has to pass. ValueError below two seeds.
    """
    if seeds < 2:
        raise ValueError(f"seeds {seeds}: want at least 2")
    if pool is None:
        return None
    df = seeds - 1 + min(thresholds.noise_weight, pool.df)
    se = math.sqrt(pool.variance / seeds + evaluation_variance)
    return smallest_shown(se, df, thresholds, toggles)


def smallest_shown(se: float, df: float, thresholds: Thresholds, toggles: int, with_one_control: bool = True) -> float:
    """The |effect| that is shown with `thresholds.power` by an estimate with this standard error, judged beside
    `toggles` - 1 others that are nil."""
    hub = ("control", math.sqrt(0.5)) if with_one_control else (None, 0.0)
    level = nominal_level(thresholds.alpha, [Test(1.0, df, *hub)] * toggles)
    # The noncentral t whose lower tail at the critical value is 1 - power; significance with the wrong sign is no
    # success.
    return float(nctdtrinc(df, 1 - thresholds.power, quantile(1 - level / 2, df))) * se


def course(
    seeds: Sequence[int],
    levels: Sequence[float],
    effect: float,
    variance: tuple[float, float, float],
    thresholds: Thresholds,
    cards: int = 1,
    futility: float | None = None,
) -> Exits:
    """How looks at `seeds` go where there is an `effect` (metric's unit), judged first among `cards`.

    variance: of a difference at one seed, its degrees of freedom in the pool, and the part that seeds do not shrink.
    Normal, as `reports.stats.looks`, with the bound and mean at which each look by itself shows the effect as often as
    its t test does.
    """
    pooled, pool_df, evaluation = variance
    errors = [math.sqrt(pooled / count + evaluation) for count in seeds]
    bounds, means, small = [], [], []
    for count, level, error in zip(seeds, levels, errors, strict=True):
        df, bound = count - 1 + min(thresholds.noise_weight, pool_df), bound_of(level, cards)
        critical, shift = -quantile(float(ndtr(-bound)), df), abs(effect) / error
        power = float(1 - nctdtr(df, shift, critical) + nctdtr(df, shift, -critical))
        if math.isnan(power):  # an effect of many standard errors, beyond what scipy's series reaches
            power = float(ndtr(shift - critical))
        mean = _mean(bound, power) if shift else 0.0
        within = 0.0
        if futility is not None:  # moved with the mean, so that it is met as often
            within = futility / error - quantile(0.5 + thresholds.equivalence_level / 2, df) - (shift - mean)
        bounds.append(bound)
        means.append(mean)
        small.append(within)
    return exits([error**-2 for error in errors], bounds, means, small)


def _mean(bound: float, power: float) -> float:
    """The mean of Z at which it is beyond ±bound so often."""

    def excess(mean: float) -> float:
        return float(ndtr(mean - bound) + ndtr(-mean - bound)) - power

    most = bound + 9.0
    if excess(0.0) >= 0:
        return 0.0
    return most if excess(most) <= 0 else float(brentq(excess, 0.0, most))
