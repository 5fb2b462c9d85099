"""When a trial of a search is given up, by validation nats at the same number of samples. A rule of ours, of the median
kind.

A look is bad when the trial is further from the best finished trial than twice as far as the median of them: where
these lie close together near the optimum, little is enough; where they are spread, much is needed. Nothing is judged
before a share of the samples, for a high rate looks bad until the schedule lets it fall, and nothing before a few
trials went all the way. A trial stops at several bad looks in a
row: while the rate is high, nats leap up for a moment and say nothing of the end.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from ablations.search import Pruning

DIVERGED = ("Diverged", "NotFinite")
"""Errors that a rate causes, by name; also in the text of a command that waited for another."""


def is_divergence(error: str) -> bool:
    """Whether a trial's error says that its rate is too high."""
    return any(f"{name}:" in error for name in DIVERGED)


def is_hopeless(
    points: Mapping[int, float], total: int, finished: Sequence[Mapping[int, float]], rule: Pruning
) -> bool:
    """Whether a trial with `points` (samples -> nats) so far, of `total` samples, is to be stopped.

    finished: the points of each trial that went to its end; those without one at the same samples do not count.
    """
    latest = sorted(points)[-rule.looks :]
    return (
        len(latest) == rule.looks
        and latest[-1] < total
        and all(_is_bad(samples, points[samples], total, finished, rule) for samples in latest)
    )


def _is_bad(samples: int, nats: float, total: int, finished: Sequence[Mapping[int, float]], rule: Pruning) -> bool:
    others = [points[samples] for points in finished if samples in points]
    if samples < rule.after * total or len(others) < rule.others:
        return False
    best = min(others)
    return nats - best > 2 * (median(others) - best)
