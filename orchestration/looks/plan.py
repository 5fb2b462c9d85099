"""How a study with looks is expected to go, before it is run."""

from collections.abc import Iterator

from ablations.study import Study
from reports.results.compare import study_thresholds
from reports.results.decisions import is_sequential
from reports.results.planning import KnownNoise, planned_effect
from reports.stats.power import course
from reports.study.looks import looks_line

SIZES = (0.0, 0.5, 1.0, 2.0)
"""Effects whose seeds are printed, as multiples of the smallest one that all seeds show."""


def looks_lines(study: Study, known: KnownNoise | None) -> Iterator[str]:
    """Its looks, and the seeds that an arm takes where its effect has some size."""
    looks, line = study.looks, looks_line(study)
    if looks is None or line is None:
        return
    yield line
    if not is_sequential(study):
        return
    smallest = planned_effect(study, known)
    if known is None or smallest is None:
        yield "seeds that an arm takes: unknown, no seed noise measured yet on this base, budget and data"
        return
    parts, seeds = [], [max(count, looks.to_come[0]) for count in looks.seeds]
    for size in SIZES:
        effect, thresholds = size * smallest, study_thresholds(study)
        ends = course(looks.seeds, effect, known.run, known.evaluation_variance, thresholds, looks.futility)
        parts.append(f"{ends.mean(seeds):.1f} at {effect:.4f} (shown {100 * sum(ends.shown):.0f} %)")
    yield f"seeds that an arm takes on average, by its effect in nats: {', '.join(parts)}"
