"""Learning rate as a pure function of samples seen and configuration; what depends on the losses too is in
`stalling`."""

from gonn_core.config import TrainingConfig

FIRST_DROP = 5_000_000
"""Published samples before the first drop of the rate (spec: GoNN 4.1)."""
DROP_EVERY = 4_000_000
"""Published samples between later drops."""
FINAL_PERCENT = 5
"""Share of the samples, at the end, that `final_drop` is for (spec: other systems 1.5; the share is ours)."""


def gonn_factor(published_samples: float) -> float:
    """1/((k+8)/8)^2 with k = 0 for the first 5M samples, one more at 5M and at every 4M after (spec: GoNN 4.1)."""
    k = 0 if published_samples < FIRST_DROP else 1 + int((published_samples - FIRST_DROP) // DROP_EVERY)
    return 1.0 / ((k + 8) / 8) ** 2


def steps_factor(steps: tuple[tuple[float, float], ...], samples: int, total: int) -> float:
    """Factor of the last of `steps` (share of `total`, factor) that has begun, 1 before the first; each begins at a
    whole sample."""
    begun = [factor for start, factor in steps if samples >= round(start * total)]
    return begun[-1] if begun else 1.0


_FACTORS = {
    "gonn": lambda training, samples: gonn_factor(samples * training.schedule.compression),
    "linear": lambda training, samples: max(0.0, 1.0 - samples / training.samples),
    "constant": lambda training, samples: 1.0,
    "half_life": lambda training, samples: 0.5 ** (samples / (training.schedule.half_life_share * training.samples)),
    "steps": lambda training, samples: steps_factor(training.schedule.steps, samples, training.samples),
    "stall_halving": lambda training, samples: 1.0,
}


def learning_rate(training: TrainingConfig, samples: int) -> float:
    """Rate of the step that starts when `samples` samples have been seen, for a loss averaged over the batch.

    Warm-up multiplies: the rate of the schedule times samples/warmup while samples < warmup. So does `final_drop` over
    the last 5 %. Of stall_halving this is the part that does not depend on the losses; `stalling.StallHalving.factor`
    is the other.
    """
    schedule = training.schedule
    factor = _FACTORS[schedule.kind](training, samples)
    if samples < schedule.warmup:
        factor *= samples / schedule.warmup
    if schedule.final_drop != 1 and 100 * samples >= (100 - FINAL_PERCENT) * training.samples:
        factor *= schedule.final_drop
    return training.optimiser.learning_rate * factor
