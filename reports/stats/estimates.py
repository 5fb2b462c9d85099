"""Estimates of an effect: Delta, its two variances, intervals and p values.

The variance is a sum of two: that of training, which more runs shrink, and that of a finite set of test games.
Positions of one game share players, opening and fights, so games, not positions, are the independent units. Every
metric is a mean over positions, hence a ratio of two sums over games. `reports.stats.model` makes both variances.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit


def sums_by_game(values: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums `values` (positions,) or (seeds, positions) over the positions of each game; `games` (positions,) holds any
    integer ids.

    Returns the sums (games,) or (seeds, games) in float64 and the positions per game (games,), both in ascending order
    of game id.
    """
    _, index, counts = np.unique(games, return_inverse=True, return_counts=True)
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    sums = np.stack([np.bincount(index, weights=row, minlength=len(counts)) for row in rows])
    return (sums[0] if np.ndim(values) == 1 else sums), counts


@dataclass(frozen=True, eq=False)
class ArmResult:
    """One metric of one arm on one evaluation subset.

    seeds: the seeds of its trials, without repeats; sums: (seeds, games) sums of the metric over each game's positions;
    counts: (games,) positions per game. All arms of a table must use the same subset with games in the same order.
    """

    seeds: tuple[int, ...]
    sums: np.ndarray
    counts: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "seeds", tuple(self.seeds))
        object.__setattr__(self, "sums", np.asarray(self.sums, dtype=np.float64))
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.float64))
        if self.sums.shape != (len(set(self.seeds)), len(self.counts)) or self.sums.shape[1] < 2:
            raise ValueError(f"sums: shape {self.sums.shape}, want {(len(self.seeds), len(self.counts))}, two games")
        if not np.isfinite(self.sums).all():
            raise ValueError("sums: not finite (a diverged trial has no place in a mean)")

    @property
    def means(self) -> np.ndarray:
        """(seeds,) the metric of each seed: its mean over all positions."""
        return self.sums.sum(1) / self.counts.sum()

    def of_seeds(self, seeds: tuple[int, ...]) -> np.ndarray:
        """(len(seeds), games) the sums of these seeds in this order."""
        row = {seed: index for index, seed in enumerate(self.seeds)}
        return self.sums[[row[seed] for seed in seeds]]


def residuals(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(..., games) what each game adds to the error of the mean over positions: (sum - mean x count) / all positions.

    The linearised ratio estimator: the mean's sampling variance over games is about the sum of squares of these.
    """
    total = counts.sum()
    mean = sums.sum(-1, keepdims=True) / total
    return (sums - mean * counts) / total


@dataclass(frozen=True)
class EvaluationNoise:
    """Variance over games of a difference of means over seeds, split by whether more seeds would shrink it.

    A game may favour the treatment with every seed (`common`) or only with this one (`specific`). The seeds' own
    variance holds the specific part already: with `common` it is the variance over new seeds AND new games. The
    bootstrap's total would count the specific part twice; at 10,000 positions that is a sixth to a half of the seed
    variance (spec: feasibility 3).
    """

    total: float
    specific: float
    games: int

    @property
    def common(self) -> float:
        """The part that no number of seeds removes, at least 0 (of one seed nothing can be split off: all of it)."""
        return max(0.0, self.total - self.specific)


def evaluation_noise(sums: np.ndarray, counts: np.ndarray) -> EvaluationNoise:
    """The noise of a mean over seeds of `sums` (seeds, games), which may be differences of two arms.

    Two-way layout seeds x games without replication: the specific part is the mean square of the interaction.
    """
    (seeds, games), rest = sums.shape, residuals(sums, counts)
    mean, correction = rest.mean(0), games / (games - 1)
    specific = ((rest - mean) ** 2).sum() / (seeds - 1) / seeds if seeds > 1 else 0.0
    return EvaluationNoise(float(correction * (mean**2).sum()), float(correction * specific), games)


@dataclass(frozen=True)
class Interval:
    """A closed interval of a difference, in the metric's unit."""

    low: float
    high: float

    def within(self, margin: float) -> bool:
        """True when the interval lies in [-margin, margin]."""
        return self.inside(Interval(-margin, margin))

    def inside(self, zone: "Interval") -> bool:
        """True when the interval lies within another."""
        return zone.low <= self.low and self.high <= zone.high

    def meets(self, zone: "Interval") -> bool:
        """True when the two have a point in common."""
        return self.low <= zone.high and zone.low <= self.high


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
    def with_ends(self) -> list[float]:
        """The value and, where there is one, the ends of its 95 % interval."""
        return [self.delta, *((self.interval95.low, self.interval95.high) if self.interval95 else ())]

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


def half_width(deltas: np.ndarray) -> float:
    """Half of the 95 % t interval of a mean over seeds; not a number for a single seed."""
    n = len(deltas)
    return float(quantile(0.975, n - 1) * deltas.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
