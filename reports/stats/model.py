"""Effects of all runs of a base by one model (`reports.stats.mixed`), with the noise of runs and of test games.

Where runs combine changes each has two effects: its mean over those it is combined with on and off (by the runs that
combine changes, where these are single ones), and that at the base. A change that no run combines with others has the
latter alone, by the runs that change one thing at most. Where every configuration has a level of its own (one change at
a time, or one more with each arm) nothing tells interactions; an effect is then the difference of two configurations,
and its variance is moderated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chdtri, nctdtrinc

from reports.stats.estimates import Effect, EvaluationNoise, effect_of, quantile, residuals
from reports.stats.mixed import LEAST, Coding, DesignMatrix, Fit, Interaction
from reports.stats.verdicts import Thresholds

SHARED = 0.6
"""Degrees of freedom that a difference tells of the noise of another one with the same control, for each of its own."""
ALIKE = 2.0
"""Ratio of variances below which runs that combine levels are taken to be as noisy as others."""
_TINY = 1e-8


@dataclass(frozen=True)
class RunNoise:
    """Standard deviations, in the metric's unit: of a run, of the interactions of pairs and of seeds (None where
    nothing tells them). df: degrees of freedom of the runs'; notes: sentences on runs that differ."""

    run: float
    df: float
    pairs: float | None = None
    seeds: float | None = None
    notes: tuple[str, ...] = ()


class Model:
    """The runs of a base on one metric. sums: (runs, games) of the metric; counts: (games,) positions."""

    def __init__(self, design: DesignMatrix, sums: np.ndarray, counts: np.ndarray):
        self.design, self._sums, self._counts = design, sums, counts
        self.values = sums.sum(1) / counts.sum()
        self._fits: dict[Coding, Fit | None] = {}

    @property
    def is_mean(self) -> bool:
        """Whether effects are means over the other levels on and off."""
        return self.design.excess > 0 and self._of_means._fit("mean") is not None

    @cached_property
    def _of_means(self) -> "Model":
        """The model of mean effects. Single runs that combine levels are fitted by themselves where they do not
        separate their noise from interactions, or have more of it than the repeated runs that change one level."""
        several = self.design.groups[:, -1] > 0
        design, others = (self.design.only(np.flatnonzero(side)) for side in (several, ~several))
        own = Model(design, self._sums[several], self._counts)
        if design.is_repeated or not others.is_repeated or design.excess < LEAST or not (fit := own._fit("mean")):
            return self
        left, df = _left(np.column_stack([others.configurations, others.of_seeds]), self.values[~several])
        return self if fit.tells_pairs and fit.variances[0] * df < ALIKE * float(left @ left) else own

    def _fit(self, coding: Coding) -> Fit | None:
        """None with too few runs, or without any noise."""
        if coding not in self._fits:
            left, df = _left(self.design.fixed(coding), self.values)
            known = df >= LEAST and float(left @ left) > 1e-20
            self._fits[coding] = Fit(self.design, self.values, coding) if known else None
        return self._fits[coding]

    @property
    def noise(self) -> RunNoise | None:
        """Of a run; None where nothing tells it."""
        means, fit = self._of_means, self._of_means._fit("mean")
        if not self.is_mean or fit is None:
            return _pooled(self._ratios)
        run, pairs, seeds = (math.sqrt(size) for size in fit.variances[:3])
        notes = [f"Runs with {means.design.name(group)} are noisier than others." for group in fit.noisier]
        notes += [f"Means are from {len(means.values)} runs, those with two changes or more."] * (means is not self)
        return RunNoise(run, max(1.0, means._by_game[2]), pairs if fit.tells_pairs else None, seeds, tuple(notes))

    def effect(self, name: str, contrast: np.ndarray) -> Effect:
        """Of a combination of levels that the design separates; see `is_mean`."""
        combined = not self.design.excess or bool(self.design.combined[contrast != 0].all())
        simple = None if combined else self._of_single_changes(name, contrast)
        if simple is not None and simple.se is not None:
            return simple  # the same, whatever was combined since
        if self.is_mean:
            model = self._of_means if combined and self._of_means.design.separates(contrast) else self
            return replace(model._of_fit(name, contrast, "mean"), is_mean=combined)
        weights, (own, df) = self._weights(contrast), self._own(contrast)
        alone = np.abs(np.abs(contrast) - np.eye(len(contrast))).max(1) < _TINY
        others = [each for its_own, each in zip(alone, self._ratios, strict=True) if not its_own]
        pool = _pooled(others)
        prior = 0.0 if pool is None else min(Thresholds().noise_weight, SHARED * pool.df)
        if pool is not None and not (df and own == 0.0):  # arms that compute the same have no noise to moderate
            own, df = (prior * pool.run**2 + df * own) / (prior + df), prior + df
        part = (float(weights @ weights) * own, df) if df else None
        of_run = self.design.configurations  # of others the weights add up to 0: they only tell the noise of seeds
        counts, sums = of_run.sum(0), weights @ of_run
        runs = int(counts[sums > _TINY].sum()), int(counts[sums < -_TINY].sum())
        return self._effect(name, weights, part, runs)

    def at_base(self, name: str, contrast: np.ndarray) -> Effect | None:
        """The effect with all else as in the base, where `effect` is a mean and the runs tell this too."""
        if not self.is_mean or not self.design.combined[contrast != 0].all():
            return None
        fit = self._fit("base")
        if fit is not None and fit.tells_pairs and self.design.excess >= LEAST:
            return self._of_fit(name, contrast, "base")
        return self._of_single_changes(name, contrast)

    def _of_single_changes(self, name: str, contrast: np.ndarray) -> Effect | None:
        """By the runs that change one level at most, None where they do not tell it."""
        model, levels = self._single_changes
        told = np.isin(np.flatnonzero(contrast), levels).all() and model.design.separates(contrast[levels])
        return model.effect(name, contrast[levels]) if told else None

    @cached_property
    def _single_changes(self) -> tuple["Model", np.ndarray]:
        """The model of the runs that change one level at most, and their levels."""
        design, kept = self.design, np.flatnonzero(self.design.groups[:, -1] == 0)
        levels = np.flatnonzero(design.changes[kept].any(0))
        return Model(design.only(kept, levels), self._sums[kept], self._counts), levels

    def interactions(self) -> list[Interaction]:
        """Of all pairs that the runs tell anything of, the largest prediction first."""
        fit = self._of_means._fit("mean")
        return fit.interactions() if self.is_mean and fit is not None and fit.tells_pairs else []

    def pair_effect(self, name: str, pair: Interaction, sign: int = 1) -> Effect:
        """A pair as a fixed effect, turned by a sign."""
        found, (one, other) = pair.fixed, self._of_means.design.changes[:, pair.levels].T
        sides = int((one * other).sum()), int(((1 - one) * (1 - other)).sum())
        return self._of_means._effect(name, sign * found.weights, (found.variance, found.df), sides)

    def cells(self, pair: Interaction, signs: tuple[int, int] = (1, 1)) -> dict[tuple[bool, bool], float]:
        """Means with and without each of two levels (sign -1: of what the level takes away), over all others, by their
        mean effects and the predicted interaction."""
        units = np.eye(len(self.design.settings))[list(pair.levels)]
        one, other = (sign * self.effect("", unit).delta for unit, sign in zip(units, signs, strict=True))
        middle, half = float(self._of_means.values.mean()), {False: -0.5, True: 0.5}
        both = math.prod(signs) * pair.value
        return {(x, y): middle + half[x] * one + half[y] * other + half[x] * half[y] * both for x in half for y in half}

    def sides(self, contrast: np.ndarray) -> tuple[int, int]:
        """Numbers of runs on the side that is added and on the one that is taken off."""
        design = self.design
        settings = {setting for setting, weight in zip(design.settings, contrast, strict=True) if weight}
        unchanged = ~design.changes[:, [each in settings for each in design.settings]].any(1)

        def runs(signed: np.ndarray) -> int:
            levels = design.changes[:, signed > _TINY].any(1)
            return int((levels | unchanged if signed.sum() < -_TINY else levels).sum())

        return runs(contrast), runs(-contrast)

    def _of_fit(self, name: str, contrast: np.ndarray, coding: Coding) -> Effect:
        fit = self._fit(coding)
        assert fit is not None
        found = fit.estimate(contrast)
        return self._effect(name, found.weights, (found.variance, found.df), self.sides(contrast))

    def _weights(self, contrast: np.ndarray) -> np.ndarray:
        """(runs,) of a contrast where every configuration has a level of its own."""
        fit = self._fit("base")
        if fit is not None:
            return fit.estimate(contrast).weights
        return np.concatenate([[0.0], contrast]) @ np.linalg.pinv(self.design.fixed("base"))

    @cached_property
    def _ratios(self) -> list[tuple[float, float]]:
        return [self._own(unit) for unit in np.eye(len(self.design.settings))]

    def _own(self, contrast: np.ndarray) -> tuple[float, float]:
        """Variance of a run by the seeds of this contrast's own configurations, and its degrees of freedom: that of a
        paired t test for two with the same seeds, at least of Welch's for others. (0, 0) with single runs."""
        weights, of_run = self._weights(contrast), self.design.configurations
        counts, sums = of_run.sum(0), weights @ of_run
        df = float(counts[np.abs(sums) > np.abs(sums).max() / 2].min()) - 1
        if df < 1:
            return 0.0, 0.0
        left = (self.values - of_run @ (of_run.T @ self.values / counts)) * weights
        left = left * (of_run @ np.sqrt(counts / np.maximum(counts - 1, 1)))
        own = float(((left @ self.design.of_seeds) ** 2).sum() / (weights @ weights))
        return (own if own > _TINY**2 else 0.0), df

    @cached_property
    def _by_game(self) -> tuple[np.ndarray, float, float]:
        """(runs, games) what each game adds to a run's error; the variance over games that a run has for itself, by
        what configurations (levels, where too few are repeated) and seeds leave; its degrees of freedom."""
        design, added = self.design, residuals(self._sums, self._counts)
        alike = design.configurations if not design.excess or design.is_repeated else design.fixed("base")
        left, df = _left(np.column_stack([alike, design.of_seeds]), added)
        return added, float((left**2).sum() / df) if df else 0.0, df

    def _effect(
        self, name: str, weights: np.ndarray, part: tuple[float, float] | None, sides: tuple[int, int]
    ) -> Effect:
        (added, specific, _), games = self._by_game, len(self._counts)
        total = games / (games - 1) * float(((weights @ added) ** 2).sum())
        noise = EvaluationNoise(total, games / (games - 1) * specific * float(weights @ weights), games)
        of_base, delta = float(weights[~self.design.changes.any(1)].sum()), float(weights @ self.values)
        if abs(delta) < _TINY**1.5 * np.abs(self.values).max():  # of arms that compute the same, but for rounding
            delta = 0.0
        return effect_of(name, delta, part, noise, sides, of_base)


def _left(columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, int]:
    """What columns leave of values (runs, ...), and its degrees of freedom."""
    inverse = np.linalg.pinv(columns, rcond=_TINY)
    return values - columns @ (inverse @ values), len(columns) - int(np.linalg.matrix_rank(columns, tol=_TINY))


def _pooled(ratios: Sequence[tuple[float, float]]) -> RunNoise | None:
    """Of variances with their degrees of freedom, without those that are 0: arms that compute the same."""
    known = [(variance, df) for variance, df in ratios if variance > 0.0]
    total = sum(df for _, df in known)
    return RunNoise(math.sqrt(sum(variance * df for variance, df in known) / total), total) if known else None


FAR = 1000.0
"""Critical t beyond which scipy's noncentral t takes minutes, and the noise of the variance is all that counts."""


def smallest_effect(noise: RunNoise, evaluation_variance: float, seeds: int, thresholds: Thresholds) -> float:
    """The |effect| that so many seeds an arm show (helps or hurts) with `thresholds.power`, as a single one. ValueError
    below two seeds.

    The variance is 2 noise / seeds + evaluation_variance (the part that seeds do not shrink, about proportional to
    1 / games), with the degrees of freedom of a moderated one.
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


def page_level(q: Sequence[float], own: float, alpha: float) -> float:
    """The p at which an effect, whose q is `own`, would be shown on a page whose effects have these q, it included."""
    return alpha * (sum(each <= alpha for each in q) + (own > alpha)) / len(q)
