"""Learning rate as a pure function of samples seen and configuration; what depends on the losses too is in
`stalling`."""

import math
from bisect import bisect_right
from collections.abc import Sequence

from gonn_core.config import ScheduleConfig, TrainingConfig

FINAL_PERCENT = 5
"""Share of the samples, at the end, that `final_drop` is for (spec: other systems 1.5; the share is ours)."""


def gonn_factor(schedule: ScheduleConfig, published_samples: float) -> float:
    """1/((k + offset)/offset)^exponent with k = 0 until `first_drop` samples, one more there and at every `drop_every`
    after (spec: GoNN 4.1)."""
    late = published_samples - schedule.first_drop
    k = 0 if late < 0 else 1 + int(late // schedule.drop_every)
    return 1.0 / ((k + schedule.offset) / schedule.offset) ** schedule.exponent


def knots_factor(knots: Sequence[tuple[int, float]], published_samples: float) -> float:
    """Straight lines through (samples, logarithm of the factor); the last one continues behind the last knot, as in the
    author's script, whose comment says piecewise linear and whose code takes logarithms."""
    right = min(max(1, bisect_right(knots, published_samples, key=lambda knot: knot[0])), len(knots) - 1)
    (start, first), (end, last) = knots[right - 1], knots[right]
    if published_samples == end:
        return last
    return first * math.exp((published_samples - start) / (end - start) * math.log(last / first))


def steps_factor(steps: tuple[tuple[float, float], ...], samples: int, total: int) -> float:
    """Factor of the last of `steps` (share of `total`, factor) that has begun, 1 before the first; each begins at a
    whole sample."""
    begun = [factor for start, factor in steps if samples >= round(start * total)]
    return begun[-1] if begun else 1.0


_FACTORS = {
    "gonn": lambda training, samples: gonn_factor(training.schedule, samples * training.schedule.compression),
    "knots": lambda training, samples: knots_factor(training.schedule.knots, samples * training.schedule.compression),
    "linear": lambda training, samples: max(0.0, 1.0 - samples / training.samples),
    "constant": lambda training, samples: 1.0,
    "half_life": lambda training, samples: 0.5 ** (samples / (training.schedule.half_life_share * training.samples)),
    "steps": lambda training, samples: steps_factor(training.schedule.steps, samples, training.samples),
    "stall_halving": lambda training, samples: 1.0,
}


def schedule_factor(training: TrainingConfig, samples: int) -> float:
    """Factor of the first rate when `samples` samples have been seen, warm-up, final drop and losses apart."""
    return _FACTORS[training.schedule.kind](training, samples)


def learning_rate(training: TrainingConfig, samples: int) -> float:
    """Rate of the step that starts when `samples` samples have been seen, for a loss averaged over the batch.

    Warm-up multiplies: the rate of the schedule times samples/warmup while samples < warmup. So does `final_drop` over
    the last 5 %, and `loss_rate_factor` from `loss_from` on. Of stall_halving this is the part that does not depend on
    the losses; `stalling.StallHalving.factor` is the other.
    """
    schedule = training.schedule
    factor = schedule_factor(training, samples)
    if samples < schedule.warmup:
        factor *= samples / schedule.warmup
    if schedule.final_drop != 1 and 100 * samples >= (100 - FINAL_PERCENT) * training.samples:
        factor *= schedule.final_drop
    if training.loss_rate_factor != 1 and samples >= training.loss_from:
        factor *= training.loss_rate_factor
    return training.optimiser.learning_rate * factor


def ramp_thirds(training: TrainingConfig, samples: int = 0) -> tuple[int, ...]:
    """Parts of a batch, a step each, in this third of training, when `samples` samples have been seen, and in the later
    ones: `batch_ramp` in the first, half of that in the second, 1 in the last."""
    return (training.batch_ramp, max(1, training.batch_ramp // 2), 1)[min(2, 3 * samples // training.samples) :]
