"""Claims on a statistic of the final weights: the range over layers of the means over seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ablations.study import seeded
from reports.claims.claimed import ClaimedEffect
from reports.claims.context import Answer, ClaimContext, Measured, not_measured
from reports.claims.verdicts import ClaimVerdict
from reports.results.compare import by_seed_alone
from reports.stats.estimates import mean_effect
from reports.tables import formats
from reports.weights.statistics import has_weights, trained_statistic, untrained_statistic

_MOVES = {"increase": 1, "decrease": -1, "no_change": 0}


def weights(context: ClaimContext) -> Measured | Answer:
    """The range of the trained nets of one arm, beside that of the untrained ones.

    Every layer has to bear the claim out. Its direction is counted from the untrained nets' mean, which is taken as
    known: each is a mean over many weights drawn at random.
    """
    claim, results = context.claim, context.results
    if claim.quantity == "difference":
        return not_measured("differences of weight statistics are not computed")
    assert claim.statistic is not None
    arms = context.claimed_arms
    trials = [trial for arm in arms for trial in results.of_arm(arm) if trial.result is not None]
    if not trials:
        return not_measured(f"no finished trial of {', '.join(arms)}")
    gone = [trial.id for trial in trials if not has_weights(trial)]
    if gone:
        return not_measured(f"the final weights are gone from {', '.join(gone)}")
    seeds = [trial.seed for trial in trials]
    trained = _by_layer(seeds, [trained_statistic(claim.statistic, trial, results.cache) for trial in trials])
    if not trained:
        return not_measured(f"{', '.join(arms)} has no such weights")
    configs = [seeded(results.study.arm(trial.arm).config, trial.seed) for trial in trials]
    untrained = _by_layer(seeds, [untrained_statistic(claim.statistic, config, results.cache) for config in configs])
    return _answer(context, trained, untrained, tuple(trial.id for trial in trials))


def _by_layer(seeds: Sequence[int], statistics: Sequence[Mapping[str, float]]) -> dict[str, dict[int, float]]:
    """Layer -> seed -> mean over the seed's trials, of each layer that all of them have."""
    layers = [layer for layer in statistics[0] if all(layer in each for each in statistics)]
    return {
        layer: {
            seed: float(np.mean([each[layer] for own, each in zip(seeds, statistics, strict=True) if own == seed]))
            for seed in seeds
        }
        for layer in layers
    }


def _answer(
    context: ClaimContext,
    trained: Mapping[str, Mapping[int, float]],
    untrained: Mapping[str, Mapping[int, float]],
    trials: tuple[str, ...],
) -> Measured | Answer:
    claim = context.claim
    means, before = (
        {layer: float(np.mean(list(each.values()))) for layer, each in of.items()} for of in (trained, untrained)
    )
    layers = f"{len(trained)} layer{'s' if len(trained) > 1 else ''}"
    text = f"{_range(means)} over {layers} (untrained {_range(before)})"
    if any(math.isnan(mean) for mean in means.values()):
        return not_measured("a layer of the final weights has no such statistic")
    agreeing = sum(np.sign(means[layer] - before[layer]) == _MOVES[claim.direction] for layer in means)
    note = f"{agreeing} of {len(means)} layers moved in the claimed direction; {len(trials)} trials"
    value = [min(means.values()), max(means.values())]
    claimed = [_claimed(context.claimed, before[layer]) for layer in means]
    known = [each for each in claimed if each is not None]
    if len(known) < len(claimed):
        note = f"untrained nets are beyond the claimed range; {note}"
        return Measured(text, ClaimVerdict.NOT_TESTED, note, value, trials)
    effects = tuple(mean_effect(layer, by_seed_alone(trained[layer]), before[layer]) for layer in means)
    margin = context.thresholds.claim_share * max(
        (abs(end) for end in claim.bounds or () if math.isfinite(end)), default=0.0
    )
    return Answer(effects, tuple(known), margin, text, note, value, trials)


def _claimed(claimed: ClaimedEffect, untrained: float) -> ClaimedEffect | None:
    """The claim on a layer, counted from its untrained value; None where that lies beyond the claimed range already."""
    if not claimed.judged or claimed.low is None or claimed.high is None:
        return replace(claimed, low=None, high=None, of_level=False)
    low, high = claimed.low - untrained, claimed.high - untrained
    low, high = (
        (max(low, 0.0) if claimed.direction == "increase" else low),
        (min(high, 0.0) if claimed.direction == "decrease" else high),
    )
    return replace(claimed, low=low, high=high, of_level=False) if low <= high else None


def _range(values: Mapping[str, float]) -> str:
    low, high = (formats.minus(f"{end:.3g}") for end in (min(values.values()), max(values.values())))
    return low if low == high else f"{low} to {high}"
