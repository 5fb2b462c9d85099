"""Claims on the probability of a move in a test position of the documents, from the answers that `gonn probe` left."""

from gonn_core.evaluation.probes.suite import picture_cases
from gonn_core.go.points import point
from reports.claims.context import Answer, ClaimContext, Measured, answer, level_answer, not_measured
from reports.probes.effects import level, probability_effect
from reports.results.compare import by_seed_alone
from reports.stats.estimates import mean_effect

_NO_ANSWERS = "the test positions were not put to these nets: gonn probe STUDY does it"


def probe(context: ClaimContext) -> Measured | Answer:
    """The effect on the probability, or the probability in one arm."""
    claimed = context.claim.probe
    assert claimed is not None
    case, move = picture_cases()[claimed.position], point(claimed.move)
    if context.claim.quantity != "difference":
        other = None if claimed.minus is None else picture_cases()[claimed.minus]
        return _level(context, case, other, move, claimed.head)
    effect, trials = probability_effect(context.results, context.contrast, case, move, claimed.head)
    if effect is None:
        return not_measured(_NO_ANSWERS)
    return answer(context, effect, trials, note=f"{effect.n} seeds")


def _level(context: ClaimContext, case: str, other: str | None, move: int, head: str) -> Measured | Answer:
    """other: the position whose probability is taken off, net by net. Noise is that between seeds alone: the position
    is the claim's own, none was drawn."""
    values, trials = level(context.results, context.claimed_arms, case, move, head)
    if not values:
        return not_measured(_NO_ANSWERS)
    if other is not None:
        taken_off, _ = level(context.results, context.claimed_arms, other, move, head)
        values = {seed: value - taken_off[seed] for seed, value in values.items()}
    effect = mean_effect(context.card.id, by_seed_alone(values))
    return level_answer(context, effect, trials, unit="%" if other is None else "points")
