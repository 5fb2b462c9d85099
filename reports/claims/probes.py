"""Claims on the probability of a move in a test position of the documents, from the answers that `gonn probe` left."""

import numpy as np

from gonn_core.evaluation.probes.published import picture_cases
from gonn_core.go.points import point
from reports.claims.context import ClaimContext, Measured, judged, not_measured
from reports.claims.levels import judge_level
from reports.probes.effects import level, probability_effect
from reports.tables import formats

_NO_ANSWERS = "the test positions were not put to these nets: gonn probe STUDY does it"


def probe(context: ClaimContext) -> Measured:
    """The effect on the probability, or the probability in one arm."""
    claimed = context.claim.probe
    assert claimed is not None
    case, move = picture_cases()[claimed.position], point(claimed.move)
    if context.claim.quantity != "difference":
        other = None if claimed.minus is None else picture_cases()[claimed.minus]
        return _level(context, case, other, move, claimed.head)
    effect, trials = probability_effect(context.results, context.contrast, case, move)
    if effect is None:
        return not_measured(_NO_ANSWERS)
    return judged(context, effect, trials, note=f"{effect.n} seeds")


def _level(context: ClaimContext, case: str, other: str | None, move: int, head: str) -> Measured:
    """Replicated when the mean lies within the claim ± its share; no interval stands behind it. other: the position
    whose probability is taken off, net by net."""
    values, trials = level(context.results, context.claimed_arms, case, move, head)
    if not values:
        return not_measured(_NO_ANSWERS)
    if other is not None:
        values = [
            value - taken_off
            for value, taken_off in zip(
                values, level(context.results, context.claimed_arms, other, move, head)[0], strict=True
            )
        ]
    mean = float(np.mean(values))
    verdict, reason = judge_level(context, mean, len(values))
    unit = "%" if other is None else "points"
    spread = f"{len(values)} seeds, {100 * min(values):.1f} to {100 * max(values):.1f} {unit}"
    text = f"{100 * mean:.1f} {unit} at {formats.samples(context.samples)} samples"
    return Measured(text, str(verdict), "; ".join(filter(None, (reason, spread))), mean, trials)
