"""The values that metrics are means of, from what is stored of every position (spec: other systems 2.7, 3.6, 5).

What a metric is called and how it is judged stands in `gonn_core.metrics`. Each function here gives a value per
position whose mean over positions is the metric. Medians, trimmed means and means over a part of the positions are no
plain means: their values are linearised (metric + influence of the position), so that their mean is the metric and
their spread over games is its spread; whatever resamples games treats all metrics alike.

Two of the documents' metrics are not here. The reducible policy loss, cross-entropy minus the target's entropy, equals
nats: a target of one move has none. Mid-ranks of ties cannot be had from a stored rank: among equal logits the lowest
point comes first.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from gonn_core.evaluation.metrics import Scores

GUESSES = (1, 2, 3, 4, 5, 10)
THRESHOLDS = (1, 2, 5, 10, 25, 50)
"""Per cent."""
THRESHOLDED = tuple(f"p{percent}" for percent in THRESHOLDS)
"""Shares of positions whose move gets at least such a probability."""
WATCHED = (*THRESHOLDED, "search_loss")
"""In every line of a trial's progress that looks at validation games, beside `SUMMARISED`."""
SEARCH_EPSILON = 0.003
"""As in the code; the text has none. It caps the search policy loss of a position at 333."""
TRIMMED = 0.05
"""Share cut off at each end."""
MOVES_A_BIN = 20
_MEDIAN_WINDOW = 0.05  # quantiles on either side of the median from which the density there is taken


class Answers(Protocol):
    """What metrics are made from: scores of every position, moves played before it, whether a ko forbids a point
    there."""

    @property
    def scores(self) -> Scores: ...
    @property
    def ply(self) -> np.ndarray | None: ...
    @property
    def ko(self) -> np.ndarray | None: ...


Values = Callable[[Answers], np.ndarray | None]
"""(N,) float64 of the answers to N positions, None when they do not hold what it takes."""


def probability(scores: Scores) -> np.ndarray:
    """(N,) float64 probability of the move played."""
    return np.exp(-scores.nats.astype(np.float64))


def search_loss(scores: Scores) -> np.ndarray:
    """(N,) search policy loss 1/(p + 0.003): about the visits that a search needs to find the move."""
    return 1.0 / (probability(scores) + SEARCH_EPSILON)


def trimmed(values: np.ndarray) -> np.ndarray:
    """Linearised mean without the 5 % smallest and the 5 % largest of `values` (N,)."""
    cut = int(TRIMMED * len(values))
    ordered = np.sort(values)
    middle = ordered[cut : len(values) - cut]
    clipped = np.clip(values, middle[0], middle[-1])
    return middle.mean() + (clipped - clipped.mean()) * (len(values) / len(middle))


def median(values: np.ndarray) -> np.ndarray:
    """Linearised median of `values` (N,)."""
    low, middle, high = np.quantile(values, (0.5 - _MEDIAN_WINDOW, 0.5, 0.5 + _MEDIAN_WINDOW))
    side = np.sign(values - middle) / 2
    return middle + (side - side.mean()) * (high - low) / (2 * _MEDIAN_WINDOW)


def over_part(values: np.ndarray, part: np.ndarray) -> np.ndarray | None:
    """Linearised mean of `values` (N,) over the positions in `part` (N,) bool; None when there is none."""
    if not part.any():
        return None
    mean = values[part].mean()
    return mean + np.where(part, values - mean, 0.0) / part.mean()


def _hits(scores: Scores, guesses: int) -> np.ndarray:
    return (scores.rank < guesses).astype(np.float64)


def _top(guesses: int) -> Values:
    return lambda answers: _hits(answers.scores, guesses)


def _at_least(percent: int) -> Values:
    return lambda answers: (probability(answers.scores) >= percent / 100).astype(np.float64)


def _stored(name: str) -> Values:
    def values(answers: Answers) -> np.ndarray | None:
        array = getattr(answers.scores, name)
        return None if array is None else array.astype(np.float64)

    return values


def _top1_with_ko(answers: Answers) -> np.ndarray | None:
    return None if answers.ko is None else over_part(_hits(answers.scores, 1), answers.ko)


def _later(plane: int, name: str) -> Values:
    """Of an output plane after the first, over the positions that have such a move."""

    def values(answers: Answers) -> np.ndarray | None:
        nats, stored = answers.scores.later_nats, getattr(answers.scores, f"later_{name}")
        if nats is None or nats.shape[1] < plane - 1:
            return None
        own = stored[:, plane - 2]
        kept = (own == 0) if name == "rank" else own
        return over_part(np.nan_to_num(kept.astype(np.float64)), ~np.isnan(nats[:, plane - 2]))

    return values


def _over_planes(answers: Answers) -> np.ndarray | None:
    """The mean over the output planes of their mean squared errors, as training takes it."""
    first, later = answers.scores.squared_error, answers.scores.later_squared_error
    if first is None or later is None:
        return None
    parts = [_later(plane, "squared_error")(answers) for plane in range(2, later.shape[1] + 2)]
    known = [part for part in parts if part is not None]
    return (first.astype(np.float64) + np.sum(known, axis=0)) / (1 + len(parts)) if len(known) == len(parts) else None


VALUES: Mapping[str, Values] = {
    "nats": lambda answers: answers.scores.nats.astype(np.float64),
    **{f"top{guesses}": _top(guesses) for guesses in GUESSES},
    "rank": lambda answers: answers.scores.rank.astype(np.float64) + 1.0,
    "probability": lambda answers: probability(answers.scores),
    **{name: _at_least(percent) for name, percent in zip(THRESHOLDED, THRESHOLDS, strict=True)},
    "search_loss": lambda answers: search_loss(answers.scores),
    "search_loss_trimmed": lambda answers: trimmed(search_loss(answers.scores)),
    "search_loss_median": lambda answers: median(search_loss(answers.scores)),
    "search_loss_top10": lambda answers: over_part(search_loss(answers.scores), answers.scores.rank < 10),
    "top1_ko": _top1_with_ko,
    "entropy": _stored("entropy"),
    "squared_error": _stored("squared_error"),
    "nats_plane2": _later(2, "nats"),
    "top1_plane2": _later(2, "rank"),
    "nats_plane3": _later(3, "nats"),
    "top1_plane3": _later(3, "rank"),
    "squared_error_planes": _over_planes,
    "illegal_probability": _stored("illegal"),
}
"""Metric -> the values that it is the mean of."""


def watched_means(scores: Scores) -> dict[str, float]:
    """Means of `WATCHED` over the positions."""
    shares = probability(scores)
    above = {name: float((shares >= p / 100).mean()) for name, p in zip(THRESHOLDED, THRESHOLDS, strict=True)}
    return {**above, "search_loss": float(search_loss(scores).mean())}


def by_move_number(answers: Answers) -> list[tuple[int, int, float]] | None:
    """(first move number, positions, top-1) of each bin of 20 moves, move 1 being a game's first; None without stored
    move numbers."""
    if answers.ply is None:
        return None
    bins = answers.ply.astype(np.int64) // MOVES_A_BIN
    counts, hits = np.bincount(bins), np.bincount(bins, weights=_hits(answers.scores, 1))
    return [
        (number * MOVES_A_BIN + 1, int(count), float(hits[number] / count))
        for number, count in enumerate(counts)
        if count
    ]
