"""Made runs: the sums by game that trials would leave behind, with true effects that are known.

Nothing of the project is used. Sizes of noise are those measured on ten GoNN arms of four seeds, 107 games of KGS 2015,
in nats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

Shape = Literal["normal", "t3", "exponential", "accidents"]

TRAINING = 0.0121
"""Standard deviation of a run's true mean loss over new trainings."""
RUN_BY_GAMES = 0.0038
"""Of its mean loss on the test games, over new games: the part that this one run has for itself."""
ARM_BY_GAMES = 0.0009 / 2**0.5
"""The part that all runs of an arm share; a difference of two arms has sqrt 2 of it."""
SHARED = 0.02
"""Share of the training variance that all arms of one seed have in common."""
ACCIDENTS, ACCIDENT = 0.05, 6.0
"""Share of runs that end badly, and by how many standard deviations."""
BASE, MANY = -1, -2
"""In `Noise.scale`: the runs of the base, and those that change three levels or more."""


@dataclass(frozen=True)
class Noise:
    """What a run's mean loss is made of, as standard deviations; scale: level (or `BASE`) -> factor of its runs' own
    noise; lost: share of the runs that is missing."""

    training: float = TRAINING
    run_by_games: float = RUN_BY_GAMES
    arm_by_games: float = ARM_BY_GAMES
    shared: float = SHARED
    games: int = 107
    unequal: bool = False
    shape: Shape = "normal"
    scale: Mapping[int, float] = field(default_factory=dict)
    lost: float = 0.0


PLAIN = Noise()


class Runs(NamedTuple):
    """changes: (runs, levels) 0 or 1; seeds: of each run; sums: (runs, games); lengths: (games,) positions."""

    changes: np.ndarray
    seeds: np.ndarray
    sums: np.ndarray
    lengths: np.ndarray

    def only(self, kept: np.ndarray, levels: int | None = None) -> "Runs":
        """Some of the runs, of which the first `levels` have all that they change."""
        return Runs(self.changes[kept][:, :levels], self.seeds[kept], self.sums[kept], self.lengths)


Arm = tuple[Sequence[float], Sequence[int]]
"""Its levels, and the seeds of its runs."""


def add_one(levels: int, seeds: int, among: int | None = None) -> list[Arm]:
    """The base and each of the first levels (of `among`) alone."""
    every = np.eye(among or levels)[:levels].tolist()
    return [(row, range(seeds)) for row in ([0.0] * (among or levels), *every)]


def screen(levels: int, arms: int, runs: int = 1, seeds: int = 2) -> list[Arm]:
    """A fraction of resolution IV; its arms have one of two seeds, or so many runs of different ones."""
    odd = sorted((number for number in range(arms) if number.bit_count() % 2), key=lambda number: number.bit_count())
    rows = [[float((arm & number).bit_count() % 2) for number in odd[:levels]] for arm in range(arms)]
    chosen = [[arm.bit_count() % seeds] if runs == 1 else range(runs) for arm in range(arms)]
    return list(zip(rows, chosen, strict=True))


def make_runs(
    generator: np.random.Generator,
    arms: Sequence[Arm],
    effects: Sequence[float] | np.ndarray,
    noise: Noise = PLAIN,
    pairs: np.ndarray | float = 0.0,
) -> Runs:
    """Runs of some arms on the same games. effects: (levels,) true ones at the base; pairs: (levels, levels)
    interactions, of which the upper triangle counts."""
    lengths, games = game_lengths(generator, noise), noise.games
    arm = np.array([number for number, (_, seeds) in enumerate(arms) for _ in seeds])
    seeds = np.array([seed for _, own in arms for seed in own])
    rows = np.array([levels for levels, _ in arms], float)
    if noise.lost:
        kept = generator.random(len(arm)) >= noise.lost
        arm, seeds = arm[kept], seeds[kept]
    changes, truths = rows[arm], np.asarray(effects, float)
    upper = np.triu(np.broadcast_to(pairs, (len(truths), len(truths))), 1)
    level = 2.53 + changes @ truths + np.einsum("ri,ij,rj->r", changes, upper, changes)
    own = np.ones(len(arm))
    for number, factor in noise.scale.items():
        which = {BASE: ~changes.any(1), MANY: changes.sum(1) > 2}
        own *= np.where(which[number] if number < 0 else changes[:, number] > 0, factor, 1.0)

    training = np.sqrt(1 - noise.shared) * own * _unit(generator, noise.shape, len(arm))
    training += np.sqrt(noise.shared) * generator.standard_normal(seeds.max() + 1)[seeds]
    level = level + noise.training * training

    # A game is as uncertain as its length and its wildness make it; the mean over positions then has the size wanted.
    wild = np.sqrt(lengths) * np.exp(0.5 * generator.standard_normal(games))
    wild *= lengths.sum() / np.sqrt((wild**2).sum())
    sums = noise.run_by_games * own[:, None] * generator.standard_normal((len(arm), games))
    sums += noise.arm_by_games * generator.standard_normal((len(arms), games))[arm]
    sums *= wild
    # The difficulty of a game is the same for all nets.
    sums += (level[:, None] + 0.25 * generator.standard_normal(games)) * lengths
    return Runs(changes, seeds, sums, lengths)


def game_lengths(generator: np.random.Generator, noise: Noise) -> np.ndarray:
    """(games,) positions of each: 60 to 320, or, unequal, 8 to 400 with many short ones."""
    if noise.unequal:
        return np.rint(8 * 50 ** generator.random(noise.games) ** 1.5)
    return generator.integers(60, 321, noise.games).astype(float)


def _unit(generator: np.random.Generator, shape: Shape, size: int) -> np.ndarray:
    """Noise of standard deviation 1 and mean 0; accidents come on top of it, with a mean that all arms share."""
    if shape == "t3":
        return generator.standard_t(3, size) / 3**0.5
    if shape == "exponential":
        return generator.standard_exponential(size) - 1
    normal = generator.standard_normal(size)
    if shape == "accidents":
        normal += ACCIDENT * (generator.random(size) < ACCIDENTS)
    return normal
