"""One mixed model of all runs of a base: what each level of a setting does, with interactions and seeds at random.

    run = base + its levels + pairs of its levels (one variance) + its seed (one variance) + noise

Variances are estimated by REML (Patterson and Thompson 1971), levels by generalised least squares, degrees of freedom
by Satterthwaite's approximation with the expected information of all variances. The coding decides which effect a level
has: `mean`, over those that any run combines it with on and off; `base`, with all others as in the base.

Least squares over runs of several designs takes interactions for nothing and is biased by every one of them; a level
whose runs are noisier than others (Box and Meyer 1986), all runs that combine levels, or those of one screen, get a
variance of their own.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy import linalg, optimize
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtri
from threadpoolctl import ThreadpoolController

Coding = Literal["mean", "base"]
NOISIER = 0.01
"""Chance that any group of runs gets a variance of its own although all runs are equally noisy."""
LEAST = 3
"""Degrees of freedom without which nothing is said of a variance."""
_TINY = 1e-9
one_thread = ThreadpoolController().wrap(limits=1, user_api="blas")
"""For matrices of some hundred rows several threads of BLAS take up to thirty times as long as one."""


@dataclass(frozen=True)
class DesignMatrix:
    """What each run is. changes: (runs, levels), 1 where a run has a level that the base has not, else 0; settings: of
    each level, of which a run has one level at most; seeds: of each run."""

    changes: np.ndarray
    settings: Sequence[Hashable]
    seeds: Sequence[int]

    def only(self, runs: np.ndarray, levels: np.ndarray | slice = slice(None)) -> "DesignMatrix":
        """Some of the runs and levels, by number."""
        settings = [self.settings[int(level)] for level in np.arange(len(self.settings))[levels]]
        return DesignMatrix(self.changes[runs][:, levels], settings, [self.seeds[int(run)] for run in runs])

    @cached_property
    def screens(self) -> list[np.ndarray]:
        """Numbers of the levels that runs combine with one another and with no others; none where these are all."""
        _, screen = connected_components(self.changes.T @ self.changes > 0, directed=False)
        several = [found for each in np.unique(screen) if len(found := np.flatnonzero(screen == each)) > 1]
        return several if len(several) > 1 else []

    @cached_property
    def groups(self) -> np.ndarray:
        """(runs, levels + screens + 1): 1 where a run has a level; where it combines those of a screen; in the last
        column, where it has two levels or more."""
        screens = [self.changes[:, levels].sum(1) > 1 for levels in self.screens]
        return np.column_stack([self.changes, *screens, self.changes.sum(1) > 1])

    def name(self, group: int) -> str:
        """Of a column of `groups`."""
        names = [f"another {each}" for each in self.settings]
        for levels in self.screens:
            first, *more = sorted({str(self.settings[level]) for level in levels})
            names.append(f"two changes or more of {first} and {len(more)} more")
        return [*names, "two changes or more"][group]

    def fixed(self, coding: Coding) -> np.ndarray:
        """(runs, 1 + levels): the constant and the levels."""
        coded = self.changes - (0.5 if coding == "mean" else 0.0)
        return np.column_stack([np.ones(len(coded)), coded])

    def pairs(self, coding: Coding) -> tuple[list[tuple[int, int]], np.ndarray]:
        """Pairs of levels that any run has both of, and their products: (runs, pairs). Means are over no others."""
        columns, (one, other) = self.fixed(coding).T[1:], np.nonzero(np.triu(self.changes.T @ self.changes, 1))
        return list(zip(one.tolist(), other.tolist(), strict=True)), (columns[one] * columns[other]).T

    @cached_property
    def combined(self) -> np.ndarray:
        """(levels,) whether any run has a level together with another one."""
        return self.changes[self.changes.sum(1) > 1].any(0)

    @cached_property
    def of_seeds(self) -> np.ndarray:
        """(runs, seeds): 1 where a run has a seed."""
        return (np.asarray(self.seeds)[:, None] == np.unique(self.seeds)).astype(float)

    @cached_property
    def configurations(self) -> np.ndarray:
        """(runs, configurations): 1 where a run has a configuration."""
        different, of_run = np.unique(self.changes, axis=0, return_inverse=True)
        return np.eye(len(different))[of_run.ravel()]

    @property
    def is_repeated(self) -> bool:
        """Whether there are two runs of a configuration or more, on average."""
        return len(self.changes) >= 2 * self.configurations.shape[1]

    @cached_property
    def excess(self) -> int:
        """Configurations more than levels: what tells interactions. 0: each configuration has a level of its own."""
        return self.configurations.shape[1] - int(np.linalg.matrix_rank(self.fixed("base")))

    @cached_property
    def _inverses(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Columns of the constant and the levels, then with those of the seeds too, each with its inverse."""
        some = self.fixed("base"), np.column_stack([self.fixed("base"), self.of_seeds])
        return [(np.linalg.pinv(columns), columns) for columns in some]

    def separates(self, contrast: np.ndarray) -> bool:
        """Whether a combination of levels (one weight each) can be separated from all others, and from the seeds or by
        several seeds on either side."""
        told, weights = [], []
        for inverse, columns in self._inverses:
            wanted = np.concatenate([[0.0], contrast, np.zeros(columns.shape[1] - 1 - len(contrast))])
            weights.append(wanted @ inverse)
            told.append(np.allclose(weights[-1] @ columns, wanted, atol=1e-6))
        by_seed = weights[0] @ self.of_seeds
        several = min((by_seed > _TINY).sum(), (by_seed < -_TINY).sum()) > 1
        return bool(told[0] and (told[1] or several))


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
    """Two levels (their numbers), the predicted effect of both together beyond their sum, and its standard error.
    fixed: the same as a fixed effect, which is not drawn towards 0."""

    levels: tuple[int, int]
    value: float
    se: float
    fixed: Estimate


class Fit:
    """The model fitted to one value a run. ValueError: fewer than three runs more than levels."""

    @one_thread
    def __init__(self, design: DesignMatrix, values: np.ndarray, coding: Coding):
        self.design, self.values, self.coding = design, np.asarray(values, float), coding
        self._pairs, self._products = design.pairs(coding)
        self.noisier: list[int] = []
        """The column of `groups` with a variance of its own on top of the common one, if any: of single levels or all
        that combine levels only where repeated runs tell noise from interactions."""
        parts = [self._products, design.of_seeds]
        # What runs of one configuration and seed differ by is noise alone: it enters as a sum of squares.
        sums = np.column_stack([design.configurations, design.of_seeds])
        deviance = self._fit(_basis(sums), parts)
        levels, several = design.changes.shape[1], design.groups.shape[1] - 1
        tested = list(range(levels, several))
        if design.is_repeated and design.excess and design.changes.any():
            tested += [_noisiest(design, *self._run_residuals()), several]
        if tested:
            best, deviance = vars(self).copy(), deviance - chdtri(1, 2 * NOISIER / design.groups.shape[1])
            for group in tested:
                own = np.eye(len(self.values))[:, design.groups[:, group] > 0]
                found = self._fit(_basis(np.column_stack([sums, own])), [*parts, own])
                if found < deviance:
                    self.noisier, deviance = [group], found
                    best = vars(self).copy()
            self.__dict__ = best

    def _fit(self, space: np.ndarray, columns: Sequence[np.ndarray]) -> float:
        """Fits within an orthonormal basis (runs, size) that holds all of the model but the noise; the deviance."""
        self._space, seen = space, space.T @ self.values
        fixed, self._parts = space.T @ self.design.fixed(self.coding), [np.eye(space.shape[1])]
        self._parts += [seen @ seen.T for seen in (space.T @ each for each in columns)]
        outside = self.values - space @ seen
        spare = len(self.values) - space.shape[1], float(outside @ outside)
        rest = linalg.null_space(_basis(fixed).T)
        self._parts[1:] = [each if _is_told(rest.T @ each @ rest, spare[0]) else 0.0 * each for each in self._parts[1:]]
        inner = [rest.T @ each @ rest for each in self._parts[1:]]
        self.variances, inverse, deviance = _reml(inner, rest.T @ seen, spare)
        """Of noise, pairs and seeds, then of `noisier`."""
        self._residuals = rest @ inverse @ rest.T
        covariance = sum(size * part for size, part in zip(self.variances, self._parts, strict=True))
        fitted = np.eye(len(seen)) - covariance @ self._residuals
        self._of_runs = np.linalg.pinv(fixed) @ fitted
        traces = [[np.sum((self._residuals @ a) * (b @ self._residuals)) for b in self._parts] for a in self._parts]
        traces[0][0] += spare[0] / self.variances[0] ** 2 if spare[0] else 0.0
        self._uncertainty = np.linalg.pinv(np.array(traces) / 2, rcond=1e-10)
        return deviance

    @property
    def tells_pairs(self) -> bool:
        """Whether the runs separate the variance of pairs from the noise; else the noise holds it."""
        return bool(self._parts[1].any())

    def _run_residuals(self) -> tuple[np.ndarray, np.ndarray]:
        """(runs, runs) what takes values to their residuals, each by the inverse of its covariance; these (runs,)."""
        space = self._space
        inside = space @ (self._residuals - np.eye(space.shape[1]) / self.variances[0]) @ space.T
        matrix = inside + np.eye(len(space)) / self.variances[0]
        return matrix, inside @ self.values + self.values / self.variances[0]

    def estimate(self, contrast: np.ndarray) -> Estimate:
        """A combination of levels, one weight each, that the design separates."""
        return self._estimate(np.concatenate([[0.0], contrast]) @ self._of_runs)

    def _estimate(self, weights: np.ndarray, without: float = 0.0) -> Estimate:
        """Of weights within the space; `without`: taken off what the pairs add to the variance, in their variance."""
        slope = np.array([weights @ part @ weights for part in self._parts])
        slope[1] -= without
        variance = float(slope @ self.variances)
        df = 2 * variance**2 / max(float(slope @ self._uncertainty @ slope), _TINY * variance**2)
        return Estimate(float(weights @ (self._space.T @ self.values)), variance, df, self._space @ weights)

    def interactions(self) -> list[Interaction]:
        """All pairs that the runs tell anything of, the largest prediction first."""
        found, seen = [], self._space.T @ self.values
        for pair, column in zip(self._pairs, (self._space.T @ self._products).T, strict=True):
            known = self._residuals @ column
            size = float(column @ known)
            if size > _TINY * self.variances[0] ** -1:
                # The pair's own variance changes no weight of its fixed effect, only the variance.
                fixed = self._estimate(known / size, without=1.0)
                predicted = self.variances[1] * float(known @ seen)
                left = self.variances[1] - self.variances[1] ** 2 * size
                found.append(Interaction(pair, predicted, max(left, 0.0) ** 0.5, fixed))
        return sorted(found, key=lambda each: -abs(each.value))


def _basis(columns: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what columns span."""
    left, sizes, _ = linalg.svd(columns, full_matrices=False)
    return left[:, sizes > _TINY * sizes[0]]


def _is_told(part: np.ndarray, spare: int) -> bool:
    """Whether at least so many degrees of freedom as any noise needs tell a part from the noise: the pairs of a screen
    of single runs are in all that its levels leave over, just as the noise is, and then stay in it."""
    size = float((part**2).sum())
    return size > _TINY and len(part) + spare - np.trace(part) ** 2 / size >= LEAST


def _noisiest(design: DesignMatrix, matrix: np.ndarray, residuals: np.ndarray) -> int:
    """The level with the largest score for a variance of its own, under the common variances."""
    squares, changed = residuals**2 - np.diag(matrix), design.changes.T
    with np.errstate(invalid="ignore"):
        scores = changed @ squares / np.sqrt(np.einsum("lr,rs,ls->l", changed, matrix**2, changed))
    return int(np.nanargmax(scores))


def _reml(
    parts: Sequence[np.ndarray], seen: np.ndarray, spare: tuple[int, float]
) -> tuple[np.ndarray, np.ndarray, float]:
    """The variance of the noise and of each part, the inverse of the covariance of what levels leave over (`seen`), and
    the deviance. spare: number and sum of squares of values that are noise alone."""
    count = len(seen) + spare[0]
    if count < LEAST:
        raise ValueError(f"{count} runs more than levels: too few to estimate any noise")

    def solved(ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        covariance = np.eye(len(seen)) + sum(ratio * part for ratio, part in zip(ratios, parts, strict=True))
        inverse = linalg.inv(covariance)
        known = inverse @ seen
        return covariance, inverse, known, float(seen @ known) + spare[1]

    def deviance(ratios: np.ndarray) -> tuple[float, np.ndarray]:
        covariance, inverse, known, square = solved(ratios)
        slope = [np.sum(inverse * part) - count * float(known @ part @ known) / square for part in parts]
        return float(np.linalg.slogdet(covariance)[1] + count * np.log(square / count)), np.array(slope)

    starts = (np.full(len(parts), start) for start in (0.0, 0.1, 1.0))
    bounds = [(0.0, 1e4 * bool(part.any())) for part in parts]
    tried = [optimize.minimize(deviance, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
    best = min(tried, key=lambda each: each.fun)
    _, inverse, _, square = solved(best.x)
    return square / count * np.array([1.0, *best.x]), inverse / (square / count), float(best.fun)
