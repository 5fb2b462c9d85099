"""Independent checks of the statistics, and shorthands for tables with one control."""

import math
from collections.abc import Collection, Mapping

import numpy as np

from gonn_core.metrics import Better
from reports.stats.analysis import Comparison, TableAnalysis, analyse_comparisons
from reports.stats.clusters import ArmResult
from reports.stats.estimates import Effect, Interval
from reports.stats.power import smallest_effect
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import Thresholds

MAX_SEEDS = 1000


def analyse(
    arms: Mapping[str, ArmResult],
    control: str,
    thresholds: Thresholds,
    better: Better,
    *,
    unpaired: Collection[str] = (),
    **options,
) -> TableAnalysis:
    """Compares every other arm with `arms[control]`, with pairs by seed unless named in `unpaired`; see
    `analyse_comparisons`."""
    if unknown := set(unpaired) - set(arms):
        raise ValueError(f"unpaired: {', '.join(sorted(unknown))} not among the arms: {', '.join(arms)}")
    comparisons = {name: Comparison((name,), (control,), name not in unpaired) for name in arms if name != control}
    return analyse_comparisons(arms, comparisons, thresholds, better, **options)


def made_effect(p: float | None = 0.5, n: int = 4, **fields) -> Effect:
    """An effect of a plain pair without a measurement behind it; other keywords: its fields."""
    usual = {
        "name": "t",
        "n": n,
        "seeds": tuple(range(1, n + 1)),
        "delta": 0.0,
        "deltas": (),
        "paired": True,
        "pooled": True,
        "se_seed": 1.0,
        "se_eval": 0.0,
        "se": 1.0,
        "df": 9.0,
        "interval95": Interval(-1.0, 1.0),
        "interval90": Interval(-0.8, 0.8),
        "own_interval95": None,
        "p": p,
        "p_adjusted": p,
        "correlation": None,
        "weights": {"t": 1.0, "control": -1.0},
        "control_seeds": n,
    }
    return Effect(**{**usual, **fields})


def bootstrap_over_games(sums: np.ndarray, counts: np.ndarray, replicates: int = 1000, seed: int = 0) -> np.ndarray:
    """(replicates, ...) means over positions of `sums` (..., games) with whole games drawn with replacement; the same
    for the same `seed`.

    The tables use the closed form (`cluster_variance`), which agrees and is exact to repeat.
    """
    generator = np.random.default_rng(seed)
    games = len(counts)
    out = np.empty((replicates, *sums.shape[:-1]))
    for index in range(replicates):
        drawn = np.bincount(generator.integers(games, size=games), minlength=games)
        out[index] = sums @ drawn / (counts @ drawn)
    return out


def seeds_needed(
    effect: float, pool: SeedPool | None, evaluation_variance: float, thresholds: Thresholds, toggles: int = 1
) -> int | float | None:
    """The fewest paired seeds that show |effect|, at least `thresholds.min_seeds`; None without a pool.

    math.inf when no 1,000 seeds show it, as the evaluation games alone hide it: then only more games help.
    """
    if pool is None:
        return None

    def shows(seeds: int) -> bool:
        return smallest_effect(pool, evaluation_variance, seeds, thresholds, toggles) <= abs(effect)

    few, many = thresholds.min_seeds, MAX_SEEDS
    if not shows(many):
        return math.inf
    while few < many:  # bisection: more seeds never show less
        middle = (few + many) // 2
        few, many = (few, middle) if shows(middle) else (middle + 1, many)
    return few
