"""How a study with looks is expected to go, before it is run."""

from collections.abc import Iterator, Sequence

from ablations.study import Study
from reports.results.compare import study_thresholds
from reports.results.seed_pool import PriorNoise, planned_effect
from reports.stats.power import course
from reports.study.looks import cost_of_looks

SIZES = (0.0, 0.5, 1.0, 2.0)
"""Effects for which it is told, as multiples of the smallest one that all seeds show."""


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def looks_lines(study: Study, prior: PriorNoise) -> Iterator[str]:
    """Its looks, what they cost, and the seeds that an arm takes where its effect has some size."""
    looks = study.looks
    if looks is None:
        return
    if cost := cost_of_looks(study):
        yield cost
    levels = looks.levels[looks.spent :]
    if len(looks.to_come) == 1:
        return
    same = (
        f"{levels[0]:g} at each" if len(set(levels)) == 1 else f"{_listed([f'{level:g}' for level in levels])} in turn"
    )
    counts = _listed([str(count) for count in looks.to_come])
    yield f"looks at {counts} seeds: an arm stops where its adjusted p is below {same}"
    if looks.futility is not None:
        yield f"an arm also stops where its 90 % interval lies within ±{looks.futility:g} nats"
    smallest, pool = planned_effect(study, prior), prior.pool()
    if smallest is None or pool is None or prior.evaluation_variance is None:
        yield "seeds that an arm takes: unknown, no seed noise measured yet on this base, budget and data"
        return
    variance = (pool.variance, pool.df, prior.evaluation_variance)
    parts = []
    for size in SIZES:
        ends = course(
            looks.to_come,
            levels,
            size * smallest,
            variance,
            study_thresholds(study),
            len(study.contrasts),
            looks.futility,
        )
        parts.append(f"{ends.mean(looks.to_come):.1f} at {size * smallest:.4f} (shown {100 * sum(ends.shown):.0f} %)")
    yield f"seeds that an arm takes on average, by its effect in nats: {', '.join(parts)}"
