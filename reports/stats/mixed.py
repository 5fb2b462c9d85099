"""One mixed model of all runs of a base: what each level of a setting does, with interactions and seeds at random.

    run = base + its levels + pairs of its levels (one variance) + its seed (one variance) + noise

Variances are estimated by REML (Patterson and Thompson 1971), levels by generalised least squares, degrees of freedom
by Satterthwaite's approximation with the expected information of all variances. The coding decides which effect a level
has: `mean`, over all other levels on and off; `base`, with all others as in the base.

Least squares over runs of several designs takes interactions for nothing and is biased by every one of them; a level
whose runs are noisier than others breaks one common variance (Box and Meyer 1986), so that it gets one of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import linalg, optimize, stats

Coding = Literal["mean", "base"]
NOISIER = 0.01
"""Chance that any level gets a variance of its own although all runs are equally noisy."""
_TINY = 1e-9


@dataclass(frozen=True)
class Design:
    """What each run is. changes: (runs, levels), 1 where a run has a level that the base has not, else 0; settings: of
    each level, of which a run has one level at most; seeds: of each run."""

    changes: np.ndarray
    settings: Sequence[str]
    seeds: Sequence[int]

    def fixed(self, coding: Coding) -> np.ndarray:
        """(runs, 1 + levels): the constant and the levels."""
        coded = self.changes - (0.5 if coding == "mean" else 0.0)
        return np.column_stack([np.ones(len(coded)), coded])

    def pairs(self, coding: Coding) -> tuple[list[tuple[int, int]], np.ndarray]:
        """Pairs of levels of different settings, and their products: (runs, pairs)."""
        columns = self.fixed(coding).T[1:]
        pairs = [(i, j) for i, j in combinations(range(len(columns)), 2) if self.settings[i] != self.settings[j]]
        one, other = np.array(pairs, int).reshape(-1, 2).T
        return pairs, (columns[one] * columns[other]).T

    @property
    def of_seeds(self) -> np.ndarray:
        """(runs, seeds): 1 where a run has a seed."""
        return (np.asarray(self.seeds)[:, None] == np.unique(self.seeds)).astype(float)

    @property
    def is_repeated(self) -> bool:
        """Whether there are two runs of a configuration or more, on average."""
        return len(self.changes) >= 2 * len(np.unique(self.changes, axis=0))

    def separates(self, contrast: np.ndarray) -> bool:
        """Whether a combination of levels (one weight each) can be told from all others and from the seeds."""
        known = np.column_stack([self.fixed("base"), self.of_seeds])
        wanted = np.concatenate([[0.0], contrast, np.zeros(known.shape[1] - 1 - len(contrast))])
        return bool(np.allclose(wanted @ np.linalg.pinv(known) @ known, wanted, atol=1e-6))


@dataclass(frozen=True)
class Estimate:
    """A combination of levels. variance: by training alone; weights: one a run, value = weights @ values, so that the
    variance between test games can be taken of the same combination."""

    value: float
    variance: float
    df: float
    weights: np.ndarray


@dataclass(frozen=True)
class Interaction:
    """Two levels (their numbers), the predicted effect of both together beyond their sum, and its standard error."""

    levels: tuple[int, int]
    value: float
    se: float


class Fit:
    """The model fitted to one value a run. ValueError: fewer than three runs more than levels."""

    def __init__(self, design: Design, values: np.ndarray, coding: Coding):
        self.design, self.values, self.coding = design, np.asarray(values, float), coding
        self._pairs, self._products = design.pairs(coding)
        basis = _basis(design.fixed(coding))
        self._parts = [np.eye(len(self.values)), _square(self._products), _square(design.of_seeds)]
        self.variances, deviance = _reml(basis, self._parts, self.values)
        """Of noise, pairs and seeds, then of `noisier`."""
        self.noisier: list[int] = []
        """Levels with a variance of their own on top of the common one: only repeated runs tell noise from
        interactions."""
        if design.is_repeated and design.changes.any():
            level = _noisiest(design, _residuals(basis, self._parts, self.variances), self.values)
            parts = [*self._parts, np.diag(design.changes[:, level])]
            variances, lower = _reml(basis, parts, self.values)
            if deviance - lower > stats.chi2.isf(2 * NOISIER / design.changes.shape[1], 1):
                self.noisier, self._parts, self.variances = [level], parts, variances
        self._residuals = _residuals(basis, self._parts, self.variances)
        covariance = sum(size * part for size, part in zip(self.variances, self._parts, strict=True))
        fitted = np.eye(len(self.values)) - covariance @ self._residuals
        self._of_runs = np.linalg.pinv(design.fixed(coding)) @ fitted
        traces = [[np.sum((self._residuals @ a) * (b @ self._residuals)) for b in self._parts] for a in self._parts]
        self._uncertainty = np.linalg.pinv(np.array(traces) / 2, rcond=1e-10)

    def estimate(self, contrast: np.ndarray) -> Estimate:
        """A combination of levels, one weight each, that the design separates."""
        weights = np.concatenate([[0.0], contrast]) @ self._of_runs
        slope = np.array([weights @ part @ weights for part in self._parts])
        variance = float(slope @ self.variances)
        df = 2 * variance**2 / max(float(slope @ self._uncertainty @ slope), _TINY * variance**2)
        return Estimate(float(weights @ self.values), variance, df, weights)

    def interactions(self) -> list[Interaction]:
        """All pairs, the largest prediction first."""
        size, columns = self.variances[1], self._products
        predicted = size * columns.T @ self._residuals @ self.values
        left = size - size**2 * np.einsum("ri,rs,si->i", columns, self._residuals, columns)
        found = zip(self._pairs, predicted, np.sqrt(np.maximum(left, 0.0)), strict=True)
        return sorted((Interaction(p, float(u), float(se)) for p, u, se in found), key=lambda each: -abs(each.value))


def _square(columns: np.ndarray) -> np.ndarray:
    return columns @ columns.T


def _basis(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what columns span."""
    left, sizes, _ = linalg.svd(columns, full_matrices=False)
    return left[:, sizes > _TINY * sizes[0]]


def _noisiest(design: Design, residuals: np.ndarray, values: np.ndarray) -> int:
    """The level with the largest score for a variance of its own, under the common variances."""
    squares, changed = (residuals @ values) ** 2 - np.diag(residuals), design.changes.T
    with np.errstate(invalid="ignore"):
        scores = changed @ squares / np.sqrt(np.einsum("lr,rs,ls->l", changed, residuals**2, changed))
    return int(np.nanargmax(scores))


def _residuals(basis: np.ndarray, parts: Sequence[np.ndarray], variances: np.ndarray) -> np.ndarray:
    """(runs, runs): what takes values to their residuals, each by the inverse of its covariance."""
    rest = linalg.null_space(basis.T)
    covariance = sum(size * part for size, part in zip(variances, parts, strict=True))
    return rest @ linalg.inv(rest.T @ covariance @ rest) @ rest.T


def _reml(basis: np.ndarray, parts: Sequence[np.ndarray], values: np.ndarray) -> tuple[np.ndarray, float]:
    """The variance of each part, the first of which is the noise of every run; and the deviance there."""
    rest = linalg.null_space(basis.T)
    count = rest.shape[1]
    if count < 3:
        raise ValueError(f"{count} runs more than levels: too few to estimate any noise")
    seen, inner = rest.T @ values, [rest.T @ part @ rest for part in parts[1:]]

    def deviance(ratios: np.ndarray) -> tuple[float, np.ndarray]:
        covariance = np.eye(count) + sum(ratio * part for ratio, part in zip(ratios, inner, strict=True))
        inverse = linalg.inv(covariance)
        solved = inverse @ seen
        square = float(seen @ solved)
        slope = [np.sum(inverse * part) - count * float(solved @ part @ solved) / square for part in inner]
        return float(np.linalg.slogdet(covariance)[1] + count * np.log(square / count)), np.array(slope)

    starts = (np.full(len(inner), start) for start in (0.0, 0.1, 1.0))
    bounds = [(0.0, 1e4 * bool(np.trace(part) > _TINY)) for part in inner]
    tried = [optimize.minimize(deviance, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
    best = min(tried, key=lambda each: each.fun)
    covariance = np.eye(count) + sum(ratio * part for ratio, part in zip(best.x, inner, strict=True))
    noise = float(seen @ linalg.solve(covariance, seen, assume_a="pos")) / count
    return noise * np.array([1.0, *best.x]), float(best.fun)
