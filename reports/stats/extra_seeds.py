"""More seeds of one arm of a pair than of the other: those of a control that all effects of a study share.

The control's mean over all its m seeds says what it is worth, its mean over the n seeds of the pairs what part of their
luck it shared: what stands for it is the one moved by `share`, the correlation within pairs, towards the other. That is
a regression of the treatment on the control's luck, with the slope of arms of equal noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.stats.clusters import ArmResult

MOST_SHARE = 0.95
"""Correlation within pairs above which more seeds of one arm tell next to nothing."""


@dataclass(frozen=True, eq=False)
class ExtraSeeds:
    """A paired difference with the extra seeds of one arm.

    per_seed: (n, games) sums of the other arm less the part of this one's that belongs to the same seeds, at the pairs'
    seeds, with the sign of the difference; extra: (m - n, games) sums at the others, with `weight`, signed too, in the
    difference; ratio: variance of per_seed relative to a plain difference, for arms of equal noise; control: (m,) the
    arm's means.
    """

    per_seed: np.ndarray
    extra: np.ndarray
    weight: float
    ratio: float
    control: np.ndarray

    @property
    def rest(self) -> tuple[float, float]:
        """Variance of the part of the extra seeds, and its degrees of freedom."""
        return self.weight**2 * float(self.control.var(ddof=1)) / len(self.extra), len(self.control) - 1.0

    def delta(self, positions: float) -> float:
        """The difference."""
        return float((self.per_seed.sum(1).mean() + self.weight * self.extra.sum(1).mean()) / positions)

    def joined(self, variance: float, df: float) -> tuple[float, float]:
        """(variance, df) of the difference, where that of the part at the pairs' seeds has these."""
        rest, rest_df = self.rest
        total = variance + rest
        return (total, total / (variance / df + rest / rest_df)) if total > 0 else (0.0, df)


def extra_seeds(
    other: ArmResult, lone: ArmResult, sign: float, seeds: tuple[int, ...], more: Sequence[int], share: float | None
) -> ExtraSeeds | None:
    """The difference `sign` x (other - lone) of two arms paired at `seeds`, with those of the seeds `more` that `lone`
    has; share: the correlation within pairs, as estimated. None where more seeds tell nothing."""
    known = tuple(seed for seed in lone.seeds if seed in set(more) and seed not in seeds)
    share = max(0.0, share or 0.0)
    if not known or len(seeds) < 2 or share > MOST_SHARE:
        return None
    n, m = len(seeds), len(seeds) + len(known)
    kept = n / m + share * (1 - n / m)
    extra, common = lone.of_seeds(known), lone.of_seeds(seeds)
    return ExtraSeeds(
        per_seed=sign * (other.of_seeds(seeds) - kept * common),
        extra=extra,
        weight=-sign * (1 - kept),
        ratio=(1 + kept**2 - 2 * kept * share) / (2 * (1 - share)),
        control=np.concatenate([common, extra]).sum(1) / lone.counts.sum(),
    )
