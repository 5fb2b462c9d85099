"""An effect at more samples than it was measured at: an envelope over forms that were fixed before any was seen.

No form is believed: three that all fit disagree by more than their own intervals. Each gives a band, the envelope holds
all of them, and how far each was off at the largest number, told from the others, stands beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from reports.stats.estimates import Effect, Interval

FEWEST_NUMBERS = 4
FURTHEST = 4
"""Times the largest number of samples; beyond that nothing is told."""
LEVEL = 0.90
DRAWS, SEED = 400, 0
EXPONENTS = tuple(np.geomspace(0.05, 2.0, 40).tolist())
"""Of the power law, from all but a logarithm to an effect that is all but reached."""


@dataclass(frozen=True)
class HeldOut:
    """The effect at the largest number of samples, told by the forms from the others: the envelope of their bands and,
    by form, prediction minus effect."""

    samples: int
    band: Interval
    errors: Mapping[str, float]
    covered: bool
    """Whether the effect lies in the band."""


@dataclass(frozen=True)
class Envelope:
    """Samples beyond the measured -> the envelope of all forms' bands; held_out: how the forms fared."""

    beyond: Mapping[int, Interval]
    held_out: HeldOut


def envelope(effects: Mapping[int, Effect]) -> Envelope | None:
    """At twice and FURTHEST times the most samples; None with effects at fewer than FEWEST_NUMBERS."""
    known = {samples: effect for samples, effect in sorted(effects.items()) if effect.se and effect.df}
    if len(known) < FEWEST_NUMBERS:
        return None
    last = max(known)
    others = {samples: effect for samples, effect in known.items() if samples != last}
    errors = {name: float(predicted[0] - known[last].delta) for name, predicted in _predicted(others, last).items()}
    drawn = _predicted(others, last, known[last])
    band = _band(drawn)
    return Envelope(
        {last * factor: _band(_predicted(known, last * factor)) for factor in (2, FURTHEST)},
        HeldOut(last, band, errors, band.low <= known[last].delta <= band.high),
    )


def _band(predicted: Mapping[str, np.ndarray]) -> Interval:
    tail = (1 - LEVEL) / 2
    ends = [np.quantile(draws[1:], [tail, 1 - tail]) for draws in predicted.values()]
    return Interval(float(min(low for low, _ in ends)), float(max(high for _, high in ends)))


def _predicted(effects: Mapping[int, Effect], at: int, measured: Effect | None = None) -> dict[str, np.ndarray]:
    """Form -> (1 + DRAWS,) its prediction at so many samples: first from the effects as they are, then from effects
    drawn with their standard errors. measured: adds the noise of an effect that is measured there."""
    random = np.random.default_rng(SEED)
    drawn = [_drawn(random, effect) for effect in effects.values()]
    deltas = np.stack(
        [np.concatenate([[effect.delta], each]) for effect, each in zip(effects.values(), drawn, strict=True)]
    )
    noise = np.concatenate([[0.0], _drawn(random, measured) - measured.delta]) if measured else 0.0
    places = np.array(list(effects), dtype=float)
    errors = np.array([effect.se for effect in effects.values()])
    return {name: form(places, deltas, errors, at) + noise for name, form in FORMS.items()}


def _drawn(random: np.random.Generator, effect: Effect) -> np.ndarray:
    assert effect.se is not None and effect.df is not None
    return effect.delta + effect.se * random.standard_t(effect.df, DRAWS)


def _linear(columns: np.ndarray, deltas: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (columns, draws) of weighted least squares, and chi squared (draws,)."""
    weighted = columns / errors[:, None]
    coefficients = np.linalg.lstsq(weighted, deltas / errors[:, None], rcond=None)[0]
    return coefficients, (((columns @ coefficients - deltas) / errors[:, None]) ** 2).sum(0)


def _constant(places: np.ndarray, deltas: np.ndarray, errors: np.ndarray, at: float) -> np.ndarray:
    return _linear(np.ones((len(places), 1)), deltas, errors)[0][0]


def _log_linear(places: np.ndarray, deltas: np.ndarray, errors: np.ndarray, at: float) -> np.ndarray:
    base = places[-1]
    columns = np.stack([np.ones(len(places)), np.log2(places / base)], 1)
    return np.array([1.0, np.log2(at / base)]) @ _linear(columns, deltas, errors)[0]


def _power(places: np.ndarray, deltas: np.ndarray, errors: np.ndarray, at: float) -> np.ndarray:
    """a + b s^-c: a and b by least squares for every c of EXPONENTS, of which each draw has its best."""
    base = places[-1]
    best, predicted = np.full(deltas.shape[1], np.inf), np.zeros(deltas.shape[1])
    for exponent in EXPONENTS:
        columns = np.stack([np.ones(len(places)), (places / base) ** -exponent], 1)
        coefficients, misfit = _linear(columns, deltas, errors)
        better = misfit < best
        best = np.where(better, misfit, best)
        predicted = np.where(better, np.array([1.0, (at / base) ** -exponent]) @ coefficients, predicted)
    return predicted


Form = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
FORMS: Mapping[str, Form] = {"constant": _constant, "a + b s^−c": _power, "log-linear": _log_linear}
"""Fixed beforehand: places and errors (numbers,), deltas (numbers, draws), samples -> predictions (draws,)."""
