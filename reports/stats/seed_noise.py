"""Seed noise of paired differences, pooled over the toggles of one base and budget.

With 4 seeds a toggle's own variance has 3 degrees of freedom and its t interval is 1.6 times as wide as a normal one.
Toggles on one base and budget have paired standard deviations of about the same size (.008-.014 nats, spec: feasibility
3), so each borrows from a common estimate; not more than it would from two seeds' difference or so, for some toggles
are noisier than others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Differences:
    """One toggle's differences by seed, and the weight that each arm has in them.

    weights: arm -> weight, adding up to 0: {treatment: 1, control: -1} for a pair, means of several arms in a factorial
    design. Toggles are correlated by the arms they share, so an arm must have the same key wherever it is used.
    """

    by_seed: Mapping[int, float]
    weights: Mapping[str, float]

    @property
    def scale(self) -> float:
        """Variance relative to a plain pair of arms, which has twice that of an arm."""
        return sum(weight**2 for weight in self.weights.values()) / 2

    @property
    def variance(self) -> float:
        """Variance between seeds (n - 1 in the denominator) of a plain pair, as these differences tell it."""
        return float(np.var(list(self.by_seed.values()), ddof=1)) / self.scale

    def correlation(self, other: "Differences") -> float:
        """With `other`, at the same seed, when all arms have the same noise: 1/2 for two treatments and one control.
        What all arms of a seed have in common cancels in each difference."""
        shared = sum(weight * other.weights.get(arm, 0.0) for arm, weight in self.weights.items())
        return shared / (2 * np.sqrt(self.scale * other.scale))


@dataclass(frozen=True)
class SeedPool:
    """Pooled variance between seeds of the difference of a pair of arms (metric squared), its degrees of freedom, and
    who is in it.

    own: toggles that are not in it, with the reason in words.
    """

    variance: float
    df: float
    members: tuple[str, ...]
    own: Mapping[str, str]

    def without(self, name: str, df: float) -> float:
        """Degrees of freedom that others than this toggle, which has `df`, give to the pool."""
        return max(0.0, self.df - df) if name in self.members else self.df


@dataclass(frozen=True)
class RunNoise:
    """Variance of one run about what a linear model says.

    replicated: from runs of the same arm with several seeds alone; else about the main effects, so that what
    interactions there are stand in it, which makes intervals wider. own: (variance, df) without what was borrowed;
    borrowed: (variance, df) of other studies' runs, None without any.
    """

    variance: float
    df: float
    replicated: bool
    own: tuple[float, float] | None
    borrowed: tuple[float, float] | None


def pool_seed_noise(toggles: Mapping[str, Differences]) -> SeedPool | None:
    """Pools the variances of paired differences, weighted by degrees of freedom; None when no toggle is left that has
    two seeds.

    Of differences, not of the arms: a difference holds the control's noise in full, so the pool stays right when the
    control is noisier or quieter than the treatments. Left out and named: a toggle whose differences are all equal
    (arms that compute the same thing say nothing about seed noise and would make the others look sure).
    """
    variances = {name: toggle.variance for name, toggle in toggles.items() if len(toggle.by_seed) > 1}
    own = {name: "the same difference with every seed" for name, variance in variances.items() if variance == 0.0}
    members = [name for name in variances if name not in own]
    if not members:
        return None
    weights = [len(toggles[name].by_seed) - 1 for name in members]
    variance = float(np.average([variances[name] for name in members], weights=weights))
    return SeedPool(variance, pooled_df([toggles[name] for name in members]), tuple(members), own)


def moderated(
    own: float | None, own_df: float, pooled: float, pooled_df: float, weight: float
) -> tuple[float, float] | None:
    """(variance, df) of a toggle's own variance, None with one seed, drawn towards the pooled one; None without any.

    Both are weighted by their degrees of freedom, the pool with at most `weight`: toggles differ in noise, and a pool
    that outweighs 3 degrees of freedom covers an arm of three times the others' noise by 83 % instead of 91 %
    (`benchmarks/error_rates.py`).
    """
    prior = min(weight, pooled_df)
    df = prior + (0.0 if own is None else own_df)
    if df <= 0.0:
        return None
    return (prior * pooled + (own_df * own if own is not None else 0.0)) / df, df


def pooled_df(toggles: Sequence[Differences]) -> float:
    """Degrees of freedom of the pooled variance, from its own variance 2 sigma^4 / df.

    Two toggles correlated by r have sums of squares about the mean that covary by r^2 times tr(C_t C_u), C the centring
    matrices of their seeds. T toggles with one control and the same n seeds: (n-1) T / (1 + (T-1)/4), at most 4 (n-1).
    """
    inverse = 0.0
    for mine in toggles:
        for other in toggles:
            common = len(mine.by_seed.keys() & other.by_seed.keys())
            sizes = len(mine.by_seed), len(other.by_seed)
            trace = common - common / sizes[0] - common / sizes[1] + common**2 / (sizes[0] * sizes[1])
            inverse += mine.correlation(other) ** 2 * trace
    return float(sum(len(toggle.by_seed) - 1 for toggle in toggles) ** 2 / inverse)


def pair_correlation(pairs: list[tuple[np.ndarray, np.ndarray]]) -> float | None:
    """Correlation over seeds within (control, treatment) pairs, each a pair of (n,) metrics; covariances and variances
    pooled over pairs.

    None when no pair has two seeds or an arm has no variance. 0: pairing by seed gains nothing; 1: it removes all seed
    noise.
    """
    within = [
        (control - control.mean(), treatment - treatment.mean()) for control, treatment in pairs if len(control) > 1
    ]
    covariance = sum(float(c @ t) for c, t in within)
    scale = np.sqrt(sum(float(c @ c) for c, _ in within) * sum(float(t @ t) for _, t in within))
    return covariance / scale if scale > 0 else None
