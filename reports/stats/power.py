"""What a number of seeds can show, planned from the seed noise measured so far."""

import math

from scipy.special import nctdtrinc

from reports.stats.estimates import quantile
from reports.stats.seed_noise import Differences, SeedPool, pooled_df
from reports.stats.verdicts import Thresholds


def smallest_effect(
    pool: SeedPool | None, evaluation_variance: float, seeds: int, thresholds: Thresholds, toggles: int = 1
) -> float | None:
    """The |effect| that `seeds` paired seeds show (helps or hurts) with `thresholds.power`; None without a pool to plan
    from.

    Treatments with one control. Paired t with variance pool/n + evaluation_variance (the part that seeds do not shrink,
    see `TableAnalysis.evaluation_variance`; about proportional to 1/games). Level alpha/toggles: Holm's first step,
    which one true effect among `toggles` has to pass. Degrees of freedom: those of this study's own pool or of the pool
    so far, whichever are more (the evaluation's are not counted, to be on the safe side). ValueError below two seeds.
    """
    if seeds < 2:
        raise ValueError(f"seeds {seeds}: want at least 2")
    if pool is None:
        return None
    planned = [
        Differences(dict.fromkeys(range(seeds), 0.0), {f"treatment {index}": 1.0, "control": -1.0})
        for index in range(toggles)
    ]
    df = max(pool.df, pooled_df(planned))
    critical = quantile(1 - thresholds.alpha / toggles / 2, df)

    # The noncentral t whose lower tail at the critical value is 1 - power; significance with the wrong sign is no
    # success.
    shift = float(nctdtrinc(df, 1 - thresholds.power, critical))
    return shift * math.sqrt(pool.variance / seeds + evaluation_variance)
