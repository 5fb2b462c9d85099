"""Seed noise of paired differences, pooled over the toggles of one base and budget.

With 4 seeds a toggle's own variance has 3 degrees of freedom and its t interval is 1.6 times as wide as a normal one.
Toggles on one base and budget have paired standard deviations of the same size (.008-.014 nats, spec: feasibility 3),
so they share one estimate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc


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

    own: toggles to be analysed with their own variance instead, with the reason in words.
    """

    variance: float
    df: float
    members: tuple[str, ...]
    own: Mapping[str, str]


def pool_seed_noise(toggles: Mapping[str, Differences], outlier_ratio: float, outlier_level: float) -> SeedPool | None:
    """Pools the variances of paired differences, weighted by degrees of freedom; None when no toggle is left that has
    two seeds.

    What is pooled is the variance of the *differences*, not of the arms: a difference holds the control's noise in
    full, so the pool stays right when the control is noisier or quieter than the treatments. Left out and named: a
    toggle whose differences are all equal (arms that compute the same thing say nothing about seed noise and would make
    the others look sure), and one with more than `outlier_ratio` times the variance of the others' pool (the largest
    first, again until none). Two toggles with 3 seeds show that ratio by chance in one table of six, and a pool robbed
    of its larger half is too small: such a toggle is analysed with its own variance but stays in the pool for the
    others until an F test at `outlier_level` excludes chance.
    """
    variances = {name: toggle.variance for name, toggle in toggles.items() if len(toggle.by_seed) > 1}
    own = {name: "the same difference with every seed" for name, variance in variances.items() if variance == 0.0}
    usual = [name for name in variances if name not in own]
    maybe_chance = []
    while len(usual) > 1:
        suspect = max(usual, key=variances.__getitem__)
        others = [name for name in usual if name != suspect]
        ratio = variances[suspect] / _pooled(variances, toggles, others)
        if ratio <= outlier_ratio:
            break
        chance = float(fdtrc(len(toggles[suspect].by_seed) - 1, pooled_df([toggles[name] for name in others]), ratio))
        own[suspect] = f"{ratio:.0f} times the seed variance of the others"
        if chance >= outlier_level:
            own[suspect] += ", perhaps by chance: kept in the pool of the others"
            maybe_chance.append(suspect)
        usual = others
    members = [name for name in variances if name in usual or name in maybe_chance]
    if not members:
        return None
    return SeedPool(
        _pooled(variances, toggles, members), pooled_df([toggles[name] for name in members]), tuple(members), own
    )


def _pooled(variances: Mapping[str, float], toggles: Mapping[str, Differences], members: list[str]) -> float:
    weights = [len(toggles[name].by_seed) - 1 for name in members]
    return float(np.average([variances[name] for name in members], weights=weights))


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
