"""Per-game sums of a metric, and the noise that a finite set of evaluation games puts on a difference between arms.

Positions of one game share players, opening and fights, so games, not positions, are the independent units. Every
metric here is a mean over positions (nats, top-1 as 0/1, ...), hence a ratio of two sums over games.
"""

from dataclasses import dataclass

import numpy as np


def sums_by_game(values: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums `values` (positions,) or (seeds, positions) over the positions of each game; `games` (positions,) holds any
    integer ids.

    Returns the sums (games,) or (seeds, games) in float64 and the positions per game (games,), both in ascending order
    of game id.
    """
    _, index, counts = np.unique(games, return_inverse=True, return_counts=True)
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    sums = np.stack([np.bincount(index, weights=row, minlength=len(counts)) for row in rows])
    return (sums[0] if np.ndim(values) == 1 else sums), counts


@dataclass(frozen=True, eq=False)
class ArmResult:
    """One metric of one arm on one evaluation subset.

    seeds: the seeds of its trials, without repeats; sums: (seeds, games) sums of the metric over each game's positions;
    counts: (games,) positions per game. All arms of a table must use the same subset with games in the same order.
    """

    seeds: tuple[int, ...]
    sums: np.ndarray
    counts: np.ndarray

    def __post_init__(self):
        object.__setattr__(self, "seeds", tuple(self.seeds))
        object.__setattr__(self, "sums", np.asarray(self.sums, dtype=np.float64))
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.float64))
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError(f"seeds {self.seeds}: want at least one and no repeats")
        if self.counts.ndim != 1 or len(self.counts) < 2 or self.counts.min() <= 0:
            raise ValueError("counts: want the positions of at least 2 games, each at least 1")
        if self.sums.shape != (len(self.seeds), len(self.counts)):
            raise ValueError(
                f"sums: shape {self.sums.shape}, want {(len(self.seeds), len(self.counts))} (seeds, games)"
            )
        if not np.isfinite(self.sums).all():
            raise ValueError("sums: not finite (a diverged trial has no place in a mean; name it beside the table)")

    @property
    def means(self) -> np.ndarray:
        """(seeds,) the metric of each seed: its mean over all positions."""
        return self.sums.sum(1) / self.counts.sum()

    def of_seeds(self, seeds: tuple[int, ...]) -> np.ndarray:
        """(len(seeds), games) the sums of these seeds in this order."""
        row = {seed: index for index, seed in enumerate(self.seeds)}
        return self.sums[[row[seed] for seed in seeds]]


def residuals(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(..., games) what each game adds to the error of the mean over positions: (sum - mean x count) / all positions.

    The linearised ratio estimator: the mean's sampling variance over games is about the sum of squares of these.
    """
    total = counts.sum()
    mean = sums.sum(-1, keepdims=True) / total
    return (sums - mean * counts) / total


@dataclass(frozen=True)
class EvaluationNoise:
    """Variance over games of a difference of means over seeds, split by whether more seeds would shrink it.

    A game may favour the treatment with every seed (`common`) or only with this one (`specific`). The seeds' own
    variance holds the specific part already: with `common` it is the variance over new seeds AND new games. The
    bootstrap's total would count the specific part twice; at 10,000 positions that is a sixth to a half of the seed
    variance (spec: feasibility 3).
    """

    total: float
    specific: float
    games: int

    @property
    def common(self) -> float:
        """The part that no number of seeds removes, at least 0 (of one seed nothing can be split off: all of it)."""
        return max(0.0, self.total - self.specific)


def evaluation_noise(sums: np.ndarray, counts: np.ndarray) -> EvaluationNoise:
    """The noise of a mean over seeds of `sums` (seeds, games), which may be differences of two arms.

    Two-way layout seeds x games without replication: the specific part is the mean square of the interaction.
    """
    (seeds, games), rest = sums.shape, residuals(sums, counts)
    mean, correction = rest.mean(0), games / (games - 1)
    specific = ((rest - mean) ** 2).sum() / (seeds - 1) / seeds if seeds > 1 else 0.0
    return EvaluationNoise(float(correction * (mean**2).sum()), float(correction * specific), games)
