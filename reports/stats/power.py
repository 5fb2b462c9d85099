"""What a number of seeds can show, planned from the seed noise measured so far."""

import math

from scipy.special import nctdtrinc

from reports.stats.estimates import quantile
from reports.stats.family import Test, nominal_level
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
