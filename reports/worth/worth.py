"""An effect as training: the ratio of samples by which the control would have to be trained longer to gain as much."""

import math
from dataclasses import dataclass

import numpy as np

from reports.stats.estimates import Effect
from reports.worth.curve import ControlCurve, extended, falling, place_of, value_at

DRAWS = 4000
SEED = 0
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Ratio:
    """A ratio with its 95 % interval. What is at `least` or `most`, the ends to which the curve is followed, may be
    beyond: a bound. extrapolated: whether the value is read beyond the samples that were trained, where the interval
    covers too seldom."""

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
        """`× 1.3 [1.1, 1.6]`; `about × 5.3 (beyond the curve)`; `more than × 8` at the end of what is read."""
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
        """Value and ends; None for one of which there is but a bound, and for the ends where it is extrapolated."""
        value, low, high = (None if self._beyond(each) else each for each in (self.value, self.low, self.high))
        return (value, None, None) if self.extrapolated else (value, low, high)


def _two_digits(value: float) -> str:
    """`5.3`, `12`, `0.48`."""
    place = math.floor(math.log10(value)) - 1
    return f"{round(value, -place):.{max(0, -place)}f}"


@dataclass(frozen=True)
class Worth:
    """What an effect is worth in samples, and in time where the arms' speeds were measured. trials: behind the
    curve."""

    samples: Ratio
    time: Ratio | None
    trials: tuple[str, ...] = ()


def worth_in_samples(curve: ControlCurve, effect: Effect, samples: int, control_has_it: bool) -> Ratio | None:
    """The worth of an effect on nats at `samples`. control_has_it: the curve is that of the arm with the enhancement.

    Where the control lacks it: the samples at which the control's curve stands where the arm with it does, over these
    samples. Where it has it: these samples over those at which the control's curve stands where the arm without it
    does. Either way more than 1 for an effect that helps. None without an interval of the effect, or a curve that is
    too short.

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
        wanted = value_at(along, nats, here) + sign * deltas
        return np.where(deltas == 0.0, 0.0, sign * (place_of(along, nats, wanted) - here))

    drawn_curves, drawn_deltas = _draws(curve, effect, samples, weights, means)
    drawn = log_ratio(drawn_curves, drawn_deltas)
    value = float(log_ratio(means, np.array(effect.delta)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    least, most = sorted(sign * (math.log2(end) - here) for end in curve.ends)
    read = here + sign * value
    extrapolated = not places[0] - _ROUNDING <= read <= places[-1] + _ROUNDING
    return Ratio(2.0**value, float(2.0**low), float(2.0**high), 2.0**least, 2.0**most, extrapolated)


def _draws(
    curve: ControlCurve, effect: Effect, samples: int, weights: np.ndarray, means: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(DRAWS, points) means of the curve and (DRAWS,) effects."""
    assert effect.se is not None and effect.df is not None
    random = np.random.default_rng(SEED)
    (variance, df), normal = curve.seed_noise, random.standard_normal((DRAWS, len(means) + 1))
    errors = np.sqrt(variance / weights)
    own = normal[:, -1]
    at = next((index for index, point in enumerate(curve.points) if point.samples == samples), None)
    if at is not None and effect.se > 0:
        correlation = float(np.clip(effect.of_base * errors[at] / effect.se, -0.95, 0.95))
        own = correlation * normal[:, at] + math.sqrt(1 - correlation**2) * own
    curves = means + errors * normal[:, :-1] * _inflated(random, df)[:, None]
    return curves, effect.delta + effect.se * own * _inflated(random, effect.df)


def _inflated(random: np.random.Generator, df: float) -> np.ndarray:
    """(DRAWS,) factors that make a normal draw one of Student's t."""
    return np.sqrt(df / random.chisquare(df, DRAWS))
