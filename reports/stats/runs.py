"""Runs as rows of a linear model: what least squares makes of them, and their noise.

A run's metric is a mean, its seed's level, its fraction's level, and for each card half its effect more or less in the
arms where the card is varied.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reports.stats.analysis import Comparison
from reports.stats.clusters import ArmResult, EvaluationNoise, noise_of_runs
from reports.stats.estimates import Interval, spread
from reports.stats.seed_noise import RunNoise, SeedPool, moderated
from reports.stats.verdicts import Thresholds

TOLERANCE = 1e-8
"""Of what is zero but for rounding; columns are of size 1."""


@dataclass(frozen=True, eq=False)
class Model:
    """Least squares on (runs, columns), which need not be independent."""

    columns: np.ndarray

    @cached_property
    def inverse(self) -> np.ndarray:
        """(columns, runs) the pseudo-inverse."""
        return np.linalg.pinv(self.columns, rcond=TOLERANCE)

    @cached_property
    def df(self) -> int:
        """Degrees of freedom of its residuals."""
        return len(self.columns) - int(np.linalg.matrix_rank(self.columns, tol=TOLERANCE))

    def residuals(self, values: np.ndarray) -> np.ndarray:
        """(runs, ...) what of `values` (runs, ...) the columns leave."""
        return values - self.columns @ (self.inverse @ values)

    def variance(self, values: np.ndarray) -> float:
        """Residual variance of `values` (runs,); there must be degrees of freedom."""
        return float((self.residuals(values) ** 2).sum() / self.df)

    def weights(self, contrast: np.ndarray) -> np.ndarray | None:
        """(runs,) of a sum of coefficients, `contrast` (columns,); None where these runs cannot tell it."""
        weights = contrast @ self.inverse
        return weights if np.allclose(weights @ self.columns, contrast, atol=TOLERANCE) else None

    def coefficient(self, index: int) -> np.ndarray | None:
        """(runs,) the weights of one coefficient, from the left or, below 0, from the right."""
        return self.weights(np.eye(self.columns.shape[1])[index])


@dataclass(frozen=True)
class Estimate:
    """A sum of coefficients, in the metric's unit. size: its variance in units of a run's; se, df, interval95, p: None
    where nothing tells the noise of a run."""

    value: float
    size: float
    se: float | None = None
    df: float | None = None
    interval95: Interval | None = None
    p: float | None = None


class Runs:
    """The runs of a design as rows of a model.

    labels: (arm, seed) of each run; values: (runs,) the metric; signs: arm -> card -> +1 with it, -1 without, 0 where
    the card is not varied. Arms that no run is of are known as well.
    """

    def __init__(self, arms: Mapping[str, ArmResult], comparisons: Mapping[str, Comparison]):
        """Raises ValueError: no runs, or arms evaluated on different games."""
        weights = [comparison.weights for comparison in comparisons.values()]
        designed = list(dict.fromkeys(arm for each in weights for arm in each))
        used = [arm for arm in designed if arm in arms]
        if not used:
            raise ValueError("nothing to compare")
        self.counts = arms[used[0]].counts
        if any(not np.array_equal(arms[arm].counts, self.counts) for arm in used):
            raise ValueError("arms evaluated on different games")
        self.cards = tuple(comparisons)
        self.signs = {arm: tuple(int(np.sign(each.get(arm, 0.0))) for each in weights) for arm in designed}
        self.labels = tuple((arm, seed) for arm in used for seed in arms[arm].seeds)
        self.sums = np.concatenate([arms[arm].sums for arm in used])
        self.values = self.sums.sum(1) / self.counts.sum()
        self.paired = all(comparison.paired for comparison in comparisons.values())

    @cached_property
    def levels(self) -> np.ndarray:
        """(runs, levels) 0 or 1: of seeds, which only say something of each other where arms are paired, and of
        fractions (arms in which the same cards are varied)."""
        seeds = [seed if self.paired else None for _, seed in self.labels]
        fractions = [tuple(map(abs, self.signs[arm])) for arm, _ in self.labels]
        return np.hstack([_indicators(seeds), _indicators(fractions)])

    @cached_property
    def changes(self) -> np.ndarray:
        """(runs, cards) ±1/2 with and without a card, 0 where it is not varied."""
        return np.array([self.signs[arm] for arm, _ in self.labels]) / 2

    def model(self, *columns: np.ndarray) -> Model:
        """Levels, main effects and further `columns` (runs,), these last."""
        return Model(np.column_stack([self.levels, self.changes, *columns]))

    @cached_property
    def main(self) -> Model:
        """Levels and main effects."""
        return self.model()

    @cached_property
    def replicates(self) -> Model:
        """Levels, and a mean for each arm: what it leaves is noise alone."""
        return Model(np.hstack([self.levels, _indicators([arm for arm, _ in self.labels])]))

    @property
    def replicated(self) -> bool:
        """Whether repeated runs say more of the noise than what the main effects leave of the arms' means."""
        return self.replicates.df > 0 and self.replicates.df >= self.main.df - self.replicates.df

    def noise(self, model: Model, thresholds: Thresholds, prior: SeedPool | None = None) -> RunNoise | None:
        """Noise of a run: of repeated runs where there are enough (`replicated`), else what `model` leaves, drawn
        towards that of other studies, if there are any; None when nothing tells it.

        `prior` is of pairs at one seed, whose difference has twice the variance of a run about its seed's level.
        """
        used = self.replicates if self.replicated else model
        own = (used.variance(self.values), float(used.df)) if used.df > 0 else None
        borrowed = (prior.variance / 2, prior.df) if prior is not None and self.paired else None
        if borrowed is None or (own is not None and own[0] == 0.0):
            return RunNoise(*own, self.replicated, own, None) if own else None
        both = moderated(own[0] if own else None, own[1] if own else 0.0, *borrowed, thresholds.noise_weight)
        assert both is not None, "the pool has degrees of freedom"
        return RunNoise(*both, self.replicated, own, borrowed)

    def estimate(
        self, model: Model, contrast: np.ndarray, thresholds: Thresholds, prior: SeedPool | None = None
    ) -> Estimate | None:
        """Of a sum of the model's coefficients, `contrast` (columns,); None where these runs cannot tell it."""
        weights = model.weights(contrast)
        if weights is None:
            return None
        value, size = float(weights @ self.values), float(weights @ weights)
        noise = self.noise(model, thresholds, prior)
        if noise is None:
            return Estimate(value, size)
        found = spread(size * noise.variance, noise.df, self.games_noise(model, weights))
        return Estimate(value, size, found.se, found.df, found.interval(value, 0.95), found.p_value(value))

    def sign(self, card: str) -> np.ndarray:
        """(runs,) of a card: see `signs`."""
        return 2 * self.changes[:, self.cards.index(card)]

    def interaction(self, one: str, other: str) -> np.ndarray:
        """(runs,) ±1/2, the column of two cards' interaction; 0 where they are not both varied."""
        return self.sign(one) * self.sign(other) / 2

    def games_noise(self, model: Model, weights: np.ndarray) -> EvaluationNoise:
        """Of an estimate with these run weights: the noise that the games put on it."""
        return noise_of_runs(weights, self.sums, self.replicates if self.replicated else model, self.counts)

    def weights_of_arms(self, weights: np.ndarray) -> dict[str, float]:
        """Arm -> the sum of its runs' weights, without arms that have none."""
        by_arm: dict[str, float] = {}
        for (arm, _), weight in zip(self.labels, weights.tolist(), strict=True):
            by_arm[arm] = by_arm.get(arm, 0.0) + weight
        return {arm: weight for arm, weight in by_arm.items() if abs(weight) > TOLERANCE}

    def main_weights(self) -> dict[str, np.ndarray]:
        """Card -> run weights of its main effect, of the cards whose effect these runs can tell."""
        first = self.levels.shape[1]
        found = {card: self.main.coefficient(first + index) for index, card in enumerate(self.cards)}
        return {card: weights for card, weights in found.items() if weights is not None}

    def main_estimates(self, thresholds: Thresholds, prior: SeedPool | None = None) -> dict[str, Estimate]:
        """Card -> its main effect, of the cards whose effect these runs can tell."""
        unit, first = np.eye(self.main.columns.shape[1]), self.levels.shape[1]
        found = {
            card: self.estimate(self.main, unit[first + index], thresholds, prior)
            for index, card in enumerate(self.cards)
        }
        return {card: estimate for card, estimate in found.items() if estimate is not None}

    def lacking(self) -> dict[str, str]:
        """Card -> why its effect cannot be told from the runs that there are."""
        known = self.main_weights()
        return {card: self._reason(card) for card in self.cards if card not in known}

    def _reason(self, card: str) -> str:
        signs = self.changes[:, self.cards.index(card)]
        for sign, side in ((1, "with it"), (-1, "without it")):
            if not (signs * sign > 0).any():
                return f"no finished run {side}"
        return f"{len(self.labels)} finished runs cannot tell it from the other effects"

    def sides(self, card: str) -> tuple[int, int]:
        """Numbers of runs with and without a card, where it is varied."""
        signs = self.changes[:, self.cards.index(card)]
        return int((signs > 0).sum()), int((signs < 0).sum())


def _indicators(keys: list) -> np.ndarray:
    """(keys, different keys) 1 where they are equal."""
    distinct = list(dict.fromkeys(keys))
    return np.array([[float(key == each) for each in distinct] for key in keys])
