"""Independent checks of the statistics, and effects without a measurement behind them."""

import numpy as np

from reports.stats.estimates import Effect, Interval


def made_effect(p: float | None = 0.5, n: int = 4, **fields) -> Effect:
    """An effect of a plain pair; q is p unless given; other keywords: its fields."""
    usual = {
        "name": "t",
        "n": n,
        "runs": (n, n),
        "delta": 0.0,
        "se_seed": 1.0,
        "se_eval": 0.0,
        "se": 1.0,
        "df": 9.0,
        "interval95": Interval(-1.0, 1.0),
        "interval90": Interval(-0.8, 0.8),
        "p": p,
        "q": p if n >= 3 else None,
    }
    return Effect(**{**usual, **fields})


def bootstrap_over_games(sums: np.ndarray, counts: np.ndarray, replicates: int = 1000, seed: int = 0) -> np.ndarray:
    """(replicates, ...) means over positions of `sums` (..., games) with whole games drawn with replacement; the same
    for the same `seed`.

    The tables use the closed form (`evaluation_noise`), which agrees and is exact to repeat.
    """
    generator = np.random.default_rng(seed)
    games = len(counts)
    out = np.empty((replicates, *sums.shape[:-1]))
    for index in range(replicates):
        drawn = np.bincount(generator.integers(games, size=games), minlength=games)
        out[index] = sums @ drawn / (counts @ drawn)
    return out
