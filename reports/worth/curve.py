"""The loss of one net over numbers of samples, each trained to its end, and an effect as training: the ratio of samples
by which the control would have to be trained longer to gain as much."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reports.stats.estimates import Effect

FEWEST_POINTS = 3
"""Numbers of samples; fewer do not show how straight the curve is."""
REACH = 4.0
"""How far a curve is extended beyond its ends, as a factor of samples, along the slope of its outer segment."""
DRAWS, SEED = 4000, 0
_ROUNDING = 1e-6


@dataclass(frozen=True)
class CurvePoint:
    """The net trained on one number of samples: its loss by seed, in nats, its trials, and top-1 by seed."""

    samples: int
    nats: dict[int, float]
    trials: tuple[str, ...]
    top1: dict[int, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean loss over seeds."""
        return float(np.mean(list(self.nats.values())))


@dataclass(frozen=True)
class ControlCurve:
    """Points by rising samples. label: net and budget."""

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
    def ready(self) -> bool:
        """Whether the worth of an effect can be read from it: enough points, and enough seeds to estimate the noise."""
        return len(self.points) >= FEWEST_POINTS and self.seed_noise[1] >= 2


@dataclass(frozen=True)
class Ratio:
    """A ratio with its 95 % interval. A value at `least` or `most`, the ends of the extended curve, is a bound.
    extrapolated: read beyond the trained samples, where the interval covers too seldom."""

    value: float
    low: float
    high: float
    least: float
    most: float
    extrapolated: bool = False

    def scaled(self, factor: float) -> "Ratio":
        """All of it times a factor."""
        value, low, high, least, most = (factor * x for x in (self.value, self.low, self.high, self.least, self.most))
        return Ratio(value, low, high, least, most, self.extrapolated)

    @property
    def text(self) -> str:
        """`× 1.3 [1.1, 1.6]`; `about × 5.3 (beyond the curve)`; `more than × 8` at the end of the extended curve."""
        if words := self._beyond(self.value):
            return f"{words}× {_two_digits(self.value)}"
        if self.extrapolated:
            return f"about × {_two_digits(self.value)} (beyond the curve)"
        ends = (f"{self._beyond(end)}{_two_digits(end)}" for end in (self.low, self.high))
        return f"× {_two_digits(self.value)} [{', '.join(ends)}]"

    def _beyond(self, value: float) -> str:
        if math.isclose(value, self.least):
            return "less than "
        return "more than " if math.isclose(value, self.most) else ""

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None]:
        """Value and ends; None for one that is only a bound, and for the ends of an extrapolated ratio."""
        value, low, high = (None if self._beyond(each) else each for each in (self.value, self.low, self.high))
        return (value, None, None) if self.extrapolated else (value, low, high)


def _two_digits(value: float) -> str:
    """`5.3`, `12`, `0.48`."""
    place = math.floor(math.log10(value)) - 1
    return f"{round(value, -place):.{max(0, -place)}f}"


def worth_in_samples(curve: ControlCurve, effect: Effect, samples: int, control_has_it: bool) -> Ratio | None:
    """The worth of an effect on nats at `samples`. control_has_it: the curve is that of the arm with the enhancement.

    Where the control lacks it: the samples at which the control's curve reaches the loss of the arm with it, over these
    samples. Where it has it: these samples over those at which the control's curve reaches the loss of the arm without
    it. Either way more than 1 for an effect that helps. None without an interval of the effect, or a curve that is too
    short.

    The interval is a parametric bootstrap: the curve's means are drawn with the seed noise pooled over its points, the
    effect with its own standard error, both Student's t. The control's runs at these samples are in both: their
    covariance is `effect.of_base` times the variance of their mean. The draws are the same for the same seed.
    """
    if not curve.ready or effect.se is None or effect.df is None:
        return None
    places = np.log2([point.samples for point in curve.points])
    weights = np.array([len(point.nats) for point in curve.points], dtype=float)
    means = np.array([point.mean for point in curve.points])
    here, sign = math.log2(samples), -1.0 if control_has_it else 1.0

    def log_ratio(curves: np.ndarray, deltas: np.ndarray) -> np.ndarray:
        along, nats = extended(places, falling(curves, weights))
        goal = value_at(along, nats, here) + sign * deltas
        return np.where(deltas == 0.0, 0.0, sign * (place_of(along, nats, goal) - here))

    random = np.random.default_rng(SEED)
    (variance, df), normal = curve.seed_noise, random.standard_normal((DRAWS, len(means) + 1))
    errors, of_effect = np.sqrt(variance / weights), normal[:, -1]
    at = next((index for index, point in enumerate(curve.points) if point.samples == samples), None)
    if at is not None and effect.se > 0:
        correlation = float(np.clip(effect.of_base * errors[at] / effect.se, -0.95, 0.95))
        of_effect = correlation * normal[:, at] + math.sqrt(1 - correlation**2) * of_effect
    curves = means + errors * normal[:, :-1] * _inflation(random, df)[:, None]
    drawn = log_ratio(curves, effect.delta + effect.se * of_effect * _inflation(random, effect.df))
    value = float(log_ratio(means, np.array(effect.delta)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    reach = math.log2(REACH)
    least, most = sorted(sign * (end - here) for end in (places[0] - reach, places[-1] + reach))
    read = here + sign * value
    extrapolated = not places[0] - _ROUNDING <= read <= places[-1] + _ROUNDING
    return Ratio(2.0**value, float(2.0**low), float(2.0**high), 2.0**least, 2.0**most, extrapolated)


def _inflation(random: np.random.Generator, df: float) -> np.ndarray:
    """(DRAWS,) factors that make a normal draw one of Student's t."""
    return np.sqrt(df / random.chisquare(df, DRAWS))


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


def place_of(places: np.ndarray, nats: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """(...) where falling curves (..., points) reach the nats `goal` (...); an end where they do not."""
    above = (nats > goal[..., None]).sum(-1)
    right = np.clip(above, 1, len(places) - 1)
    higher, lower = (np.take_along_axis(nats, (right - back)[..., None], -1)[..., 0] for back in (1, 0))
    step = np.where(higher > lower, (higher - goal) / np.where(higher > lower, higher - lower, 1.0), 0.0)
    return np.clip(places[right - 1] + step * (places[right] - places[right - 1]), places[0], places[-1])
