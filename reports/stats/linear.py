"""Effects by least squares on runs, for designs in which one run counts for many effects: factorials and screens.

A card's effect is its coefficient in the model of `reports.stats.runs`: with it minus without, a mean over the other
cards on and off. Whatever runs there are count, as long as they tell an effect from the others.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from gonn_core.metrics import Better
from reports.stats.analysis import Comparison, TableAnalysis, joined_effect
from reports.stats.clusters import ArmResult
from reports.stats.estimates import Effect
from reports.stats.family import adjust
from reports.stats.runs import Runs
from reports.stats.seed_noise import Differences, SeedPool, pool_seed_noise
from reports.stats.verdicts import Thresholds, judge_effect


def analyse_runs(
    arms: Mapping[str, ArmResult],
    comparisons: Mapping[str, Comparison],
    thresholds: Thresholds,
    better: Better,
    *,
    metric: str = "nats",
    claims: Mapping[str, float] | None = None,
    prior: Mapping[str, Differences] | None = None,
    level: float | None = None,
    decided: Collection[str] = (),
) -> TableAnalysis:
    """As `reports.stats.analysis.analyse_comparisons`, by least squares on runs; `comparisons` are all of the design.

    Arms may be missing, have other seeds than others, or one alone. Cards whose effect the runs cannot tell are not
    among the effects (`Runs.lacking` says why). `Effect.n` is the number of runs on the side with fewer, and
    `min_seeds` is asked of it. ValueError: no runs, arms evaluated on different games, no effect can be told.
    """
    runs = Runs(arms, comparisons)
    pool = pool_seed_noise(prior or {})
    effects = _effects(runs, thresholds, pool)
    if not effects:
        raise ValueError("no effect can be told from these runs")
    enough = {name: effect for name, effect in effects.items() if effect.n >= thresholds.min_seeds}
    adjusted = adjust(enough) | adjust({name: each for name, each in enough.items() if name not in decided})
    judged = {name: replace(each, p_adjusted=adjusted.get(name), level=level) for name, each in effects.items()}
    margins = {name: thresholds.margin(metric, (claims or {}).get(name)) for name in judged}
    return TableAnalysis(
        effects=judged,
        verdicts={name: judge_effect(effect, better, margins[name], thresholds) for name, effect in judged.items()},
        margins=margins,
        differences=_differences(arms, comparisons),
        pool=pool,
        correlation=None,
        evaluation_variance=float(np.mean([effect.se_eval**2 for effect in judged.values()])),
        noise=runs.noise(runs.main, thresholds, pool),
    )


def estimate_runs(
    arms: Mapping[str, ArmResult], comparisons: Mapping[str, Comparison], thresholds: Thresholds
) -> dict[str, Effect]:
    """The effects alone, of a metric on which nothing is judged: p_adjusted is None."""
    return _effects(Runs(arms, comparisons), thresholds, None)


def _effects(runs: Runs, thresholds: Thresholds, pool: SeedPool | None) -> dict[str, Effect]:
    """Main effects by card, not yet adjusted for their number."""
    noise = runs.noise(runs.main, thresholds, pool)
    effects = {}
    for card, weights in runs.main_weights().items():
        size, sides = float(weights @ weights), runs.sides(card)
        effects[card] = joined_effect(
            (size * noise.variance, noise.df) if noise else None,
            (size * noise.own[0], noise.own[1]) if noise and noise.own else None,
            runs.games_noise(runs.main, weights),
            thresholds,
            name=card,
            n=min(sides),
            seeds=_seeds(runs, card),
            delta=float(weights @ runs.values),
            deltas=(),
            paired=runs.paired,
            pooled=bool(noise and noise.borrowed),
            correlation=None,
            weights=runs.weights_of_arms(weights),
            control_seeds=max(sides),
        )
    return effects


def _seeds(runs: Runs, card: str) -> tuple[int, ...]:
    """Of the runs in which a card is varied."""
    varied = runs.changes[:, runs.cards.index(card)] != 0
    return tuple(sorted({seed for (_, seed), used in zip(runs.labels, varied, strict=True) if used}))


def _differences(arms: Mapping[str, ArmResult], comparisons: Mapping[str, Comparison]) -> dict[str, Differences]:
    """What later tables may borrow: differences by seed, where all arms of a comparison have the same two seeds or
    more. Of arms with a seed each nothing is lent: their noise cannot be told from interactions."""
    lent = {}
    for name, comparison in comparisons.items():
        weights = comparison.weights
        common = set.intersection(*(set(arms[arm].seeds) if arm in arms else set() for arm in weights))
        if comparison.paired and len(common) > 1:
            seeds = tuple(sorted(common))
            total = arms[comparison.without[0]].counts.sum()
            by_seed = sum(weight * arms[arm].of_seeds(seeds).sum(1) for arm, weight in weights.items()) / total
            lent[name] = Differences(dict(zip(seeds, by_seed.tolist(), strict=True)), weights)
    return lent
