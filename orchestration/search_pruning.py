"""When a trial of a search is given up, by validation nats at the same number of samples. A rule of ours, of the median kind.

A trial stops when it is further from the best finished trial than twice as far as the median of them: where these lie close
together near the optimum, little is enough; where they are spread, much is needed. Nothing is judged before a share of the samples, for a
high rate looks bad until the schedule lets it fall, and nothing before a few trials went all the way.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from ablations.search import Pruning


def is_hopeless(samples: int, nats: float, total: int, finished: Sequence[Mapping[int, float]], rule: Pruning) -> bool:
    """Whether a trial with `nats` after `samples` of `total` is to be stopped.

    finished: samples -> nats of each trial that went to its end; those without a point at `samples` do not count.
    """
    if not rule.after * total <= samples < total:
        return False
    others = [points[samples] for points in finished if samples in points]
    if len(others) < rule.others:
        return False
    best = min(others)
    return nats - best > 2 * (median(others) - best)
