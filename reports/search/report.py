"""What a learning-rate search found so far: the best rate with its interval.

The curve of nats is a parabola in the logarithm of the rate, fitted by least squares to the better half of the finished
trials (at least 5 of them): near the optimum loss is one, far from it it rises more steeply to the right than to the
left. The interval is a bootstrap over trials. The rule is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ablations.search import Search, Tried, rounded
from reports.stats.estimates import Interval

LEAST = 5
"""Trials that a parabola is fitted to at least; with fewer only the best trial is reported."""
RESAMPLES = 1000
_POINTS = 61


@dataclass(frozen=True)
class Optimum:
    """Where a search found the lowest loss."""

    rate: float
    """Of the curve's lowest point within the rates it is fitted to; of the best trial where no curve bends upward."""
    interval: Interval | None
    """95 % bootstrap interval of that rate; None without a curve."""
    nats: float
    """The curve at that rate, or the best trial's."""
    best: tuple[float, float]
    """Rate and nats of the best trial."""
    at_edge: bool
    """The rate is next to an end of the range that was searched: a better one may lie beyond."""
    rates: np.ndarray
    """Where the curve is given, rising; empty without one."""
    curve: np.ndarray
    low: np.ndarray
    high: np.ndarray
    """The curve, and the 95 % bootstrap band around it."""


def find_optimum(tried: Sequence[tuple[float, float]], searched: tuple[float, float]) -> Optimum | None:
    """The optimum of (rate, nats) pairs of finished trials in any order; None when there are none. searched: lowest and
    highest rate."""
    if not tried:
        return None
    pairs = np.array(sorted(tried))
    x, y = np.log(pairs[:, 0]), pairs[:, 1]
    best = int(np.argmin(y))
    at, level, interval, rates, curve, low, high = x[best], y[best], None, *(np.empty(0) for _ in range(4))
    minimum, bent = _lowest(x, y, np.ones(len(x))) if len(x) >= LEAST else (0.0, None)
    if bent is not None:
        at, level = minimum, np.polyval(bent, minimum)
        generator = np.random.default_rng(0)
        draws = [np.unique(generator.integers(len(x), size=len(x)), return_counts=True) for _ in range(RESAMPLES)]
        places, bends = zip(*(_lowest(x[drawn], y[drawn], times) for drawn, times in draws), strict=True)
        # Rounded outward: the printed rate lies inside, and so does a mere rounding of it.
        ends = min(np.quantile(places, 0.025), at), max(np.quantile(places, 0.975), at)
        interval = Interval(*(float(np.exp(end)) for end in ends))
        fitted = x[_better(y)]
        grid = np.linspace(fitted.min(), fitted.max(), _POINTS)
        rates, curve = np.exp(grid), np.polyval(bent, grid)
        around = np.array([np.polyval(bend, grid) for bend in bends if bend is not None])
        low, high = np.quantile(around, [0.025, 0.975], axis=0)
    first, last = np.log(searched)
    at_edge = bool(min(at - first, last - at) < 0.05 * (last - first))
    pair = float(pairs[best, 0]), float(y[best])
    return Optimum(float(np.exp(at)), interval, float(level), pair, at_edge, rates, curve, low, high)


def _better(y: np.ndarray) -> np.ndarray:
    """Indices of the better half, at least LEAST, by rising nats."""
    return np.argsort(y, kind="stable")[: max(LEAST, -(-len(y) // 2))]


def _lowest(x: np.ndarray, y: np.ndarray, times: np.ndarray) -> tuple[float, np.ndarray | None]:
    """Where the curve of log rates is lowest, and its coefficients; the best trial and None where no parabola bends
    upward.

    times: how often each trial counts.
    """
    chosen = _better(y)
    if len(np.unique(x[chosen])) >= 3:
        bent = np.polyfit(x[chosen], y[chosen], 2, w=np.sqrt(times[chosen]))
        if bent[0] > 1e-9:  # a straight line bends by rounding errors
            return float(np.clip(-bent[1] / (2 * bent[0]), x[chosen].min(), x[chosen].max())), bent
    return float(x[np.argmin(y)]), None


@dataclass(frozen=True)
class SearchReport:
    """A search as far as it is."""

    search: Search
    tried: tuple[Tried, ...]
    optimum: Optimum | None
    """None before the first trial is done."""

    @property
    def searched(self) -> tuple[float, float]:
        """Lowest and highest rate searched."""
        tried = [trial.rate for trial in self.tried]
        return min([self.search.rates[0], *tried]), max([self.search.rates[1], *tried])

    @property
    def rate(self) -> float | None:
        """The rate found, as it is printed and adopted."""
        return rounded(self.optimum.rate) if self.optimum else None

    @property
    def done(self) -> list[tuple[Tried, float]]:
        """Trials that are done, with their nats."""
        return [(trial, trial.nats) for trial in self.tried if trial.state == "done" and trial.nats is not None]

    @property
    def unfinished(self) -> int:
        """Trials that are still to come, or under way."""
        return max(0, self.search.trials - sum(trial.state in ("done", "pruned", "diverged") for trial in self.tried))


def search_report(search: Search, tried: Sequence[Tried]) -> SearchReport:
    """The report of a search with these trials."""
    report = SearchReport(search, tuple(tried), None)
    return replace(report, optimum=find_optimum([(trial.rate, nats) for trial, nats in report.done], report.searched))
