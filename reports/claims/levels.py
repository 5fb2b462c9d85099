"""Claims on a level: what the nets of one arm have themselves, no difference of two arms."""

import numpy as np

from reports.claims.context import Answer, ClaimContext, Measured, level_answer, not_measured
from reports.stats.clusters import ArmResult
from reports.stats.estimates import mean_effect


def positions_level(context: ClaimContext, evaluation: int) -> Measured | Answer:
    """The mean over seeds and games of the arm that is claimed about."""
    metric, arms = context.claim.metric, context.claimed_arms
    results = [context.results.arm_result(arm, evaluation, metric) for arm in arms]
    found = [result for result in results if result is not None]
    seeds = sorted(set.intersection(*(set(result.seeds) for result in found))) if found else []
    if len(found) < len(arms) or not seeds:
        return not_measured(f"no evaluation of {', '.join(arms)} holds it")
    sums = np.mean([result.of_seeds(tuple(seeds)) for result in found], axis=0)
    effect = mean_effect(context.card.id, ArmResult(tuple(seeds), sums, found[0].counts))
    evaluated = [context.results.evaluated(arm, evaluation) for arm in arms]
    trials = tuple(trial.id for each in evaluated for seed, trial in each.items() if seed in seeds)
    return level_answer(context, effect, trials, evaluation=evaluation)
