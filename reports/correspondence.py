"""Nats to playing strength by the published rough correspondence (spec: GoNN 4.9): straight lines between its points.

How far that can be trusted is taken from the table itself: each inner point is left out in turn and read from its neighbours, and the root
mean square of these errors is the uncertainty. Ours: the document gives none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ablations.schema import EloPoint
from reports.statistics import Interval


@dataclass(frozen=True)
class Strength:
    """Relative Elo of a loss; `low`, `high`: one uncertainty of the correspondence beyond the ends of the loss's interval."""

    elo: float
    low: float
    high: float


def elo_of_nats(points: Sequence[EloPoint], nats: float, interval: Interval | None = None) -> Strength | None:
    """Elo at a GoGoD loss in nats; None outside the table, which says nothing of such nets. Ends of `interval` beyond it are cut to it."""
    losses, elos = _curve(points)
    if not losses[0] <= nats <= losses[-1]:
        return None
    ends = (nats, nats) if interval is None else (interval.low, interval.high)
    weak, strong = (float(np.interp(end, losses, elos)) for end in (ends[1], ends[0]))
    margin = uncertainty(points)
    return Strength(float(np.interp(nats, losses, elos)), weak - margin, strong + margin)


def uncertainty(points: Sequence[EloPoint]) -> float:
    """Root mean square error, in Elo, of reading each inner point from the others. Raises ValueError below 3 points."""
    losses, elos = _curve(points)
    if len(losses) < 3:
        raise ValueError("the uncertainty of a correspondence needs 3 points")
    errors = [np.interp(losses[i], np.delete(losses, i), np.delete(elos, i)) - elos[i] for i in range(1, len(losses) - 1)]
    return float(np.sqrt(np.mean(np.square(errors))))


def _curve(points: Sequence[EloPoint]) -> tuple[np.ndarray, np.ndarray]:
    """Losses, rising, and their Elo."""
    ordered = sorted(points, key=lambda point: point.nats)
    return np.array([point.nats for point in ordered]), np.array([point.elo for point in ordered])
