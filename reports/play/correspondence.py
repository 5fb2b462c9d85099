"""Nats to playing strength by a correspondence of the two, published (spec: GoNN 4.9) or from games rated here:
straight lines between its points.

How far that can be trusted is taken from the points themselves: each inner one is left out in turn and read from its
neighbours, and the root mean square of these errors is the uncertainty of the lines. Ours: the document gives none.
Where the points are ratings with a covariance, the variance of the rating read from them is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from reports.stats.estimates import Interval


class CurvePoint(Protocol):
    """A loss in nats and the strength of a net that has it."""

    @property
    def nats(self) -> float: ...

    @property
    def elo(self) -> float: ...


@dataclass(frozen=True)
class RatedPoint:
    """A net rated here."""

    nats: float
    elo: float


@dataclass(frozen=True)
class Strength:
    """Relative Elo of a loss; `low`, `high`: one uncertainty of the correspondence beyond the ends of the loss's
    interval."""

    elo: float
    low: float
    high: float


def elo_of_nats(
    points: Sequence[CurvePoint], nats: float, interval: Interval | None = None, covariance: np.ndarray | None = None
) -> Strength | None:
    """Elo at a loss in nats on the games of the correspondence; None outside it, for it says nothing of such nets. Ends
    of `interval` beyond it are cut to it. covariance: (n, n) in Elo² of the points' Elo, in their order."""
    losses, elos, order = _curve(points)
    if not losses[0] <= nats <= losses[-1]:
        return None
    ends = (nats, nats) if interval is None else (interval.low, interval.high)
    weak, strong = (float(np.interp(end, losses, elos)) for end in (ends[1], ends[0]))
    margin = uncertainty(points)
    if covariance is not None:
        weights = np.array([np.interp(nats, losses, row) for row in np.eye(len(losses))])
        margin = float(np.sqrt(margin**2 + weights @ covariance[np.ix_(order, order)] @ weights))
    low, high = sorted((weak, strong))  # measured points may not rise all the way
    return Strength(float(np.interp(nats, losses, elos)), low - margin, high + margin)


def uncertainty(points: Sequence[CurvePoint]) -> float:
    """Root mean square error, in Elo, of reading each inner point from the others. Raises ValueError below 3 points."""
    losses, elos, _ = _curve(points)
    if len(losses) < 3:
        raise ValueError("the uncertainty of a correspondence needs 3 points")
    errors = [
        np.interp(losses[i], np.delete(losses, i), np.delete(elos, i)) - elos[i] for i in range(1, len(losses) - 1)
    ]
    return float(np.sqrt(np.mean(np.square(errors))))


def _curve(points: Sequence[CurvePoint]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses, rising, their Elo, and the numbers of the points in that order."""
    order = np.array(sorted(range(len(points)), key=lambda number: points[number].nats))
    return (
        np.array([points[number].nats for number in order]),
        np.array([points[number].elo for number in order]),
        order,
    )
