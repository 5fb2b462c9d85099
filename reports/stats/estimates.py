"""Estimates of an effect: Delta, its two variances, intervals and p values.

Its variance is that of training and that of the games of the evaluation subset (`reports.stats.clusters`); more runs
shrink only the first. `reports.stats.model` makes both.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from reports.stats.clusters import ArmResult, EvaluationNoise, evaluation_noise


@dataclass(frozen=True)
class Interval:
    """A closed interval of a difference, in the metric's unit."""

    low: float
    high: float

    def within(self, margin: float) -> bool:
        """True when the interval lies in [-margin, margin]."""
        return -margin <= self.low and self.high <= margin

    def inside(self, zone: "Interval") -> bool:
        """True when the interval lies within another."""
        return zone.low <= self.low and self.high <= zone.high

    def meets(self, zone: "Interval") -> bool:
        """True when the two have a point in common."""
        return self.low <= zone.high and zone.low <= self.high

    @property
    def mirrored(self) -> "Interval":
        """That of the difference the other way round."""
        return Interval(-self.high, -self.low)


@dataclass(frozen=True)
class Effect:
    """Of one metric, in its unit: with an enhancement minus without it, or a level (`mean_effect`).

    runs: with it and without it; n: on the side with fewer. se_seed, se_eval: the two parts of the standard error `se`;
    se_seed is None when nothing tells the noise of runs, and then there is no interval either. df: of both parts, see
    `spread`. p: two-sided, of t; q: over the judged effects of a page (`reports.stats.verdicts.with_q`), None of one
    that is not judged. of_base: weight of the base's runs; is_mean: over other levels on and off. seeds, deltas: of a
    level, by seed.
    """

    name: str
    n: int
    runs: tuple[int, int]
    delta: float
    se_seed: float | None
    se_eval: float
    se: float | None
    df: float | None
    interval95: Interval | None
    interval90: Interval | None
    p: float | None
    q: float | None = None
    of_base: float = 0.0
    is_mean: bool = False
    seeds: tuple[int, ...] = ()
    deltas: tuple[float, ...] = ()

    @property
    def bound(self) -> float | None:
        """What the effect is smaller than in size: the farther end of the 90 % interval."""
        return None if self.interval90 is None else max(abs(self.interval90.low), abs(self.interval90.high))

    @property
    def leaves_out_zero(self) -> bool:
        """Whether the 95 % interval of the effect by itself does not hold 0."""
        return self.interval95 is not None and (self.interval95.low > 0 or self.interval95.high < 0)

    def interval(self, level: float) -> Interval | None:
        """At any level, as `interval95` is at that of 95 %."""
        if self.se is None or self.df is None:
            return None
        return Spread(self.se, self.df).interval(self.delta, level)


@dataclass(frozen=True)
class Spread:
    """Standard error and degrees of freedom of a difference."""

    se: float
    df: float

    def interval(self, centre: float, level: float) -> Interval:
        half = self.se * quantile(0.5 + level / 2, self.df) if self.se > 0 else 0.0
        return Interval(centre - half, centre + half)

    def p_value(self, delta: float) -> float:
        """Two-sided p of no difference; without any noise, 0 or 1."""
        if self.se == 0.0:
            return 1.0 if delta == 0.0 else 0.0
        return float(2 * stdtr(self.df, -abs(delta) / self.se))


def quantile(level: float, df: float) -> float:
    """Student's t quantile with real-valued degrees of freedom."""
    return float(stdtrit(df, level))


def spread(variance: float, df: float, noise: EvaluationNoise) -> Spread:
    """Adds to the seed `variance` of a mean difference, with `df`, the evaluation variance common to all seeds, with
    games - 1.

    V / df = sum(V_i / df_i). By Satterthwaite's V^2 / df = sum(V_i^2 / df_i) df leaps up when few seeds happen to
    agree: with 3-4 seeds its 95 % interval covers 92-94 %, this one 94-96.5 % for any mixture of the two parts.
    """
    total = variance + noise.common
    if total == 0.0:
        return Spread(0.0, df)
    return Spread(float(np.sqrt(total)), total / (variance / df + noise.common / (noise.games - 1)))


def effect_of(
    name: str,
    delta: float,
    of_seeds: tuple[float, float] | None,
    noise: EvaluationNoise,
    runs: tuple[int, int],
    of_base: float = 0.0,
) -> Effect:
    """An effect from (variance, df) by seeds, None where nothing tells it, and the noise of the evaluation. Seeds that
    happen to agree vary at least as much as their own luck with the test games does."""
    if of_seeds is not None and of_seeds[0] > 0.0:
        of_seeds = max(of_seeds[0], noise.specific), of_seeds[1]
    total = None if of_seeds is None else spread(*of_seeds, noise)
    return Effect(
        name=name,
        n=min(runs),
        runs=runs,
        delta=delta,
        se_seed=None if of_seeds is None else float(np.sqrt(of_seeds[0])),
        se_eval=float(np.sqrt(noise.common)),
        se=total.se if total else None,
        df=total.df if total else None,
        interval95=total.interval(delta, 0.95) if total else None,
        interval90=total.interval(delta, 0.90) if total else None,
        p=total.p_value(delta) if total else None,
        of_base=of_base,
    )


def mean_effect(name: str, arm: ArmResult, counted_from: float = 0.0) -> Effect:
    """A level: the mean over the seeds of one arm of a metric less `counted_from`, with the noise of its own seeds and
    games; without intervals for a single seed. Its q is p."""
    n, values = len(arm.seeds), arm.means - counted_from
    of_seeds = (float(values.var(ddof=1)) / n, n - 1.0) if n > 1 else None
    noise = evaluation_noise(arm.sums, arm.counts)
    found = effect_of(name, float(values.mean()), of_seeds, noise, (n, n))
    return replace(found, q=found.p, seeds=arm.seeds, deltas=tuple(values.tolist()))
