"""The loss of one net over numbers of samples, each trained to its end: a falling curve through noisy means."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

FEWEST_POINTS = 3
"""Numbers of samples; with fewer, nothing tells how straight the curve is."""
REACH = 4.0
"""How far beyond its ends a curve is followed, as a factor of samples: along the slope of its outer segment."""


@dataclass(frozen=True)
class CurvePoint:
    """The net trained on one number of samples: its loss by seed, in nats, its trials, and top-1 by seed."""

    samples: int
    nats: dict[int, float]
    trials: tuple[str, ...]
    top1: dict[int, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Over seeds."""
        return float(np.mean(list(self.nats.values())))


@dataclass(frozen=True)
class ControlCurve:
    """Points by rising samples, at least FEWEST_POINTS. label: of which net under which budget."""

    label: str
    points: tuple[CurvePoint, ...]

    @cached_property
    def seed_noise(self) -> tuple[float, int]:
        """Variance between seeds, pooled over the points, and its degrees of freedom; (0, 0) with one seed each."""
        spreads = [np.array(list(point.nats.values())) for point in self.points]
        df = sum(len(nats) - 1 for nats in spreads)
        squares = sum(float(((nats - nats.mean()) ** 2).sum()) for nats in spreads)
        return (squares / df, df) if df else (0.0, 0)

    @property
    def ends(self) -> tuple[float, float]:
        """Fewest and most samples to which the curve is followed."""
        return self.points[0].samples / REACH, self.points[-1].samples * REACH

    @property
    def ready(self) -> bool:
        """Whether there are points enough, and seeds to tell their noise."""
        return len(self.points) >= FEWEST_POINTS and self.seed_noise[1] >= 2


def falling(means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(..., points) nats that never rise, nearest to `means` by weighted squares: isotonic regression, by its min-max
    formula, for all rows at once."""
    points = means.shape[-1]
    sums = np.concatenate([np.zeros((*means.shape[:-1], 1)), np.cumsum(means * weights, -1)], -1)
    totals = np.concatenate([[0.0], np.cumsum(weights)])

    def average(first: int, last: int) -> np.ndarray:
        return (sums[..., last + 1] - sums[..., first]) / (totals[last + 1] - totals[first])

    fitted = [
        np.min([np.max([average(first, last) for last in range(at, points)], 0) for first in range(at + 1)], 0)
        for at in range(points)
    ]
    return np.stack(fitted, -1)


def extended(log_samples: np.ndarray, nats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and falling nats (..., points) with one more at either end, REACH away along the outer segment."""
    reach = np.log2(REACH)
    first = (nats[..., 0] - nats[..., 1]) / (log_samples[1] - log_samples[0])
    last = (nats[..., -2] - nats[..., -1]) / (log_samples[-1] - log_samples[-2])
    places = np.concatenate([[log_samples[0] - reach], log_samples, [log_samples[-1] + reach]])
    ends = [(nats[..., 0] + reach * first)[..., None], (nats[..., -1] - reach * last)[..., None]]
    return places, np.concatenate([ends[0], nats, ends[1]], -1)


def value_at(places: np.ndarray, nats: np.ndarray, at: float) -> np.ndarray:
    """(...) nats of curves (..., points) at one place, along straight lines between points."""
    right = int(np.clip(np.searchsorted(places, at), 1, len(places) - 1))
    share = (at - places[right - 1]) / (places[right] - places[right - 1])
    return nats[..., right - 1] * (1 - share) + nats[..., right] * share


def place_of(places: np.ndarray, nats: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(...) where falling curves (..., points) come down to the `wanted` nats (...); an end where they do not."""
    above = (nats > wanted[..., None]).sum(-1)
    right = np.clip(above, 1, len(places) - 1)
    higher, lower = (np.take_along_axis(nats, (right - back)[..., None], -1)[..., 0] for back in (1, 0))
    step = np.where(higher > lower, (higher - wanted) / np.where(higher > lower, higher - lower, 1.0), 0.0)
    found = places[right - 1] + step * (places[right] - places[right - 1])
    return np.clip(found, places[0], places[-1])
