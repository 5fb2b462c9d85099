"""How the loss falls with the size of a net and its samples, and the best of both for a number of operations:

    nats = floor + (size / size_0)^-a + (samples / samples_0)^-b

(Hoffmann et al. 2022, "Training Compute-Optimal Large Language Models", section 3.3). Size is operations of training by
a sample, so that operations are size × samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import optimize

from reports.stats.estimates import Interval, quantile

SIZES, LENGTHS = 3, 3
"""Sizes and numbers of samples without which a law is not fitted."""
_POWERS = 0.03, 1.5


@dataclass(frozen=True)
class Trained:
    """A net trained to its end. size: operations of training by a sample; nats: the mean of its seeds, which are not
    independent: what the law misses of a net is in all of them."""

    size: float
    samples: int
    nats: float


@dataclass(frozen=True)
class Law:
    """numbers: floor, log of the size term in the middle of the nets, a, the same of samples, b. middle: logarithms of
    size and samples there; covariance: of the numbers; df: of the residuals."""

    numbers: np.ndarray
    middle: tuple[float, float]
    covariance: np.ndarray
    df: int

    def nats(self, size: float, samples: float) -> float:
        return float(_nats(self.numbers, np.log(size) - self.middle[0], np.log(samples) - self.middle[1]))

    def best(self, operations: float) -> tuple[float, Interval, float, Interval]:
        """The size with which this many operations give the least loss, and that loss, with 95 % intervals."""
        total = float(np.log(operations)) - sum(self.middle)

        def size(numbers: np.ndarray) -> float:
            _, of_size, a, of_samples, b = numbers
            return float((np.log(a / b) + of_size - of_samples + b * total) / (a + b))

        def loss(numbers: np.ndarray) -> float:
            return float(_nats(numbers, size(numbers), total - size(numbers)))

        log_size, half_size = self._with_half(size)
        nats, half_nats = self._with_half(loss)
        low, middle, high = np.exp(self.middle[0] + log_size + half_size * np.array([-1.0, 0.0, 1.0]))
        return float(middle), Interval(float(low), float(high)), nats, Interval(nats - half_nats, nats + half_nats)

    def _with_half(self, of: Callable[[np.ndarray], float]) -> tuple[float, float]:
        """A value of the numbers and half of its interval, by its slopes."""
        steps = 1e-5 * np.maximum(np.abs(self.numbers), 1e-3)
        slopes = np.array(
            [(of(self.numbers + step) - of(self.numbers - step)) / (2 * step.sum()) for step in np.diag(steps)]
        )
        half = quantile(0.975, self.df) * float(slopes @ self.covariance @ slopes) ** 0.5
        return of(self.numbers), half


def fit_law(trained: Sequence[Trained]) -> Law | None:
    """Least squares from several starts; None where the nets are too few, or too alike to tell both powers."""

    df = len(trained) - 5
    if df < 1 or len({each.size for each in trained}) < SIZES or len({each.samples for each in trained}) < LENGTHS:
        return None
    size, samples, nats = np.array([[np.log(each.size), np.log(each.samples), each.nats] for each in trained]).T
    middle = float(np.median(size)), float(np.median(samples))

    def left(numbers: np.ndarray) -> np.ndarray:
        return _nats(numbers, size - middle[0], samples - middle[1]) - nats

    low, high = _POWERS
    bounds = ([0.0, -8.0, low, -8.0, low], [nats.min(), 2.0, high, 2.0, high])
    starts = product((0.3 * nats.min(), 0.8 * nats.min()), (-1.5,), (0.2, 0.6), (-1.0,), (0.2, 0.6))
    fits = [optimize.least_squares(left, start, bounds=bounds) for start in starts]
    best = min(fits, key=lambda each: each.cost)
    if best.active_mask.any() or np.linalg.matrix_rank(best.jac) < len(best.x):
        return None
    return Law(best.x, middle, 2 * best.cost / df * np.linalg.inv(best.jac.T @ best.jac), df)


def _nats(numbers: np.ndarray, size, samples):
    floor, of_size, a, of_samples, b = numbers
    return floor + np.exp(of_size - a * size) + np.exp(of_samples - b * samples)
