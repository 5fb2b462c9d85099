"""Learning rate as a pure function of samples seen and configuration (spec: GoNN 4.1)."""

from gonn_core.config import TrainingConfig

FIRST_DROP = 5_000_000
"""Published samples before the first drop of the rate (spec: GoNN 4.1)."""
DROP_EVERY = 4_000_000
"""Published samples between later drops."""


def gonn_factor(published_samples: float) -> float:
    """1/((k+8)/8)^2 with k = 0 for the first 5M samples, one more at 5M and at every 4M after (spec: GoNN 4.1)."""
    k = 0 if published_samples < FIRST_DROP else 1 + int((published_samples - FIRST_DROP) // DROP_EVERY)
    return 1.0 / ((k + 8) / 8) ** 2


def learning_rate(training: TrainingConfig, samples: int) -> float:
    """Rate of the step that starts when `samples` samples have been seen, for a loss averaged over the batch.

    Warm-up multiplies: the rate of the schedule times samples/warmup while samples < warmup.
    """
    schedule = training.schedule
    if schedule.kind == "gonn":
        factor = gonn_factor(samples * schedule.compression)
    elif schedule.kind == "linear":
        factor = max(0.0, 1.0 - samples / training.samples)
    else:
        factor = 1.0
    if samples < schedule.warmup:
        factor *= samples / schedule.warmup
    return training.optimiser.learning_rate * factor
