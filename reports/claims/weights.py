"""Claims on a statistic of the final weights: the range over layers of the means over seeds."""

from collections.abc import Mapping, Sequence

import numpy as np

from ablations.study import seeded
from reports.claims.context import ClaimContext, Measured, not_measured
from reports.stats.verdicts import ClaimVerdict
from reports.tables import formats
from reports.weights.statistics import last_snapshot, trained_statistic, untrained_statistic


def weights(context: ClaimContext) -> Measured:
    """The range of the trained nets of one arm, beside that of the untrained ones."""
    claim, results = context.claim, context.results
    if claim.quantity == "difference":
        return not_measured("differences of weight statistics are not computed")
    assert claim.statistic is not None
    arms = context.claimed_arms
    trials = [trial for arm in arms for trial in results.of_arm(arm) if trial.result is not None]
    if not trials:
        return not_measured(f"no finished trial of {', '.join(arms)}")
    gone = [trial.id for trial in trials if not last_snapshot(trial).exists()]
    if gone:
        return not_measured(f"the final weights are gone from {', '.join(gone)}")
    trained = _by_layer([trained_statistic(claim.statistic, trial, results.cache) for trial in trials])
    if not trained:
        return not_measured(f"{', '.join(arms)} has no such weights")
    configs = [seeded(results.study.arm(trial.arm).config, trial.seed) for trial in trials]
    untrained = _by_layer([untrained_statistic(claim.statistic, config, results.cache) for config in configs])
    layers = f"{len(trained)} layer{'s' if len(trained) > 1 else ''}"
    verdict, reason = _judge_layers(context, trained, untrained)
    return Measured(
        f"{_range(trained)} over {layers} (untrained {_range(untrained)})",
        str(verdict),
        f"{reason}; {len(trials)} trials",
        [min(trained.values()), max(trained.values())],
        tuple(trial.id for trial in trials),
    )


def _by_layer(statistics: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean over trials of each layer that all of them have."""
    layers = [layer for layer in statistics[0] if all(layer in each for each in statistics)]
    return {layer: float(np.mean([each[layer] for each in statistics])) for layer in layers}


def _range(values: Mapping[str, float]) -> str:
    low, high = (formats.minus(f"{end:.3g}") for end in (min(values.values()), max(values.values())))
    return low if low == high else f"{low} to {high}"


def _judge_layers(
    context: ClaimContext, trained: Mapping[str, float], untrained: Mapping[str, float]
) -> tuple[ClaimVerdict, str]:
    """A range over layers is replicated when ours lies within the claimed one ± `claim_share` of its size; no interval
    stands behind it."""
    claim, share = context.claim, context.thresholds.claim_share
    moves = [np.sign(trained[layer] - untrained[layer]) for layer in trained]
    claimed_move = {"increase": 1, "decrease": -1, "no_change": 0}[claim.direction]
    agreeing = sum(move == claimed_move for move in moves)
    direction = f"{agreeing} of {len(moves)} layers moved in the claimed direction"
    if context.from_memory:
        return ClaimVerdict.COMPARED, f"claim from unverified memory; {direction}"
    if context.differs:
        return ClaimVerdict.NOT_TESTED, f"differs from the claim in {', '.join(context.differs)}; {direction}"
    if agreeing == 0:
        return ClaimVerdict.CONTRADICTED, direction
    if claim.bounds is None:
        return (ClaimVerdict.REPLICATED if agreeing == len(moves) else ClaimVerdict.NOT_SHOWN), direction
    margin = share * max(abs(end) for end in claim.bounds if np.isfinite(end))
    low, high = claim.bounds[0] - margin, claim.bounds[1] + margin
    inside = sum(low <= value <= high for value in trained.values())
    note = f"{inside} of {len(trained)} layers within the claim ± {margin:.2g}; {direction}"
    return (ClaimVerdict.REPLICATED if inside == len(trained) else ClaimVerdict.NOT_SHOWN), note
