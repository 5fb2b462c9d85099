"""Made trials: the sums by game that a study's trials would leave behind, with true effects that are known.

Of the project it uses nothing but the container that its analysis reads (`ArmResult`). Sizes of noise are those
measured on ten GoNN arms of four seeds, 107 games of KGS 2015 (audit of commit 0af6c55, table 3.1), in nats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reports.stats.clusters import ArmResult

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


@dataclass(frozen=True)
class Noise:
    """What a run's mean loss is made of, as standard deviations; scale: arm -> factor of its runs' own noise."""

    training: float = TRAINING
    run_by_games: float = RUN_BY_GAMES
    arm_by_games: float = ARM_BY_GAMES
    shared: float = SHARED
    games: int = 107
    unequal: bool = False
    shape: Shape = "normal"
    scale: Mapping[str, float] = field(default_factory=dict)


def game_lengths(generator: np.random.Generator, noise: Noise) -> np.ndarray:
    """(games,) positions of each: 60 to 320, or, unequal, 8 to 400 with many short ones."""
    if noise.unequal:
        return np.rint(8 * 50 ** generator.random(noise.games) ** 1.5)
    return generator.integers(60, 321, noise.games).astype(float)


def make_arms(
    generator: np.random.Generator,
    truths: Mapping[str, float],
    seeds: int | Mapping[str, Sequence[int]],
    noise: Noise = Noise(),
) -> dict[str, ArmResult]:
    """One result for each arm of `truths` (arm -> its true mean loss less the base's), on the same games and with the
    same seeds, 0 to n - 1, or with those given for each arm."""
    chosen = {arm: tuple(range(seeds)) for arm in truths} if isinstance(seeds, int) else seeds
    columns = sorted(set().union(*chosen.values()))
    lengths = game_lengths(generator, noise)
    arms, trials, games = len(truths), len(columns), noise.games

    own = np.array([noise.scale.get(arm, 1.0) for arm in truths])[:, None]
    training = np.sqrt(1 - noise.shared) * own * _unit(generator, noise.shape, (arms, trials))
    training += np.sqrt(noise.shared) * generator.standard_normal(trials)
    level = 2.53 + np.array(list(truths.values()))[:, None] + noise.training * training

    # A game is as uncertain as its length and its wildness make it; the mean over positions then has the size wanted.
    wild = np.sqrt(lengths) * np.exp(0.5 * generator.standard_normal(games))
    wild *= lengths.sum() / np.sqrt((wild**2).sum())
    sums = generator.standard_normal((arms, trials, games))
    sums *= noise.run_by_games * own[:, :, None]
    sums += noise.arm_by_games * generator.standard_normal((arms, 1, games))
    sums *= wild
    # The difficulty of a game is the same for all nets.
    sums += (level[:, :, None] + 0.25 * generator.standard_normal(games)) * lengths
    place = {seed: index for index, seed in enumerate(columns)}
    return {
        arm: ArmResult(tuple(chosen[arm]), table[[place[seed] for seed in chosen[arm]]], lengths)
        for arm, table in zip(truths, sums, strict=True)
    }


def first_seeds(arms: Mapping[str, ArmResult], count: int) -> dict[str, ArmResult]:
    """The same arms when they had only their first `count` seeds."""
    return {name: ArmResult(arm.seeds[:count], arm.sums[:count], arm.counts) for name, arm in arms.items()}


def _unit(generator: np.random.Generator, shape: Shape, size: tuple[int, ...]) -> np.ndarray:
    """Noise of standard deviation 1 and mean 0; accidents come on top of it, with a mean that all arms share."""
    if shape == "t3":
        return generator.standard_t(3, size) / 3**0.5
    if shape == "exponential":
        return generator.standard_exponential(size) - 1
    normal = generator.standard_normal(size)
    if shape == "accidents":
        normal += ACCIDENT * (generator.random(size) < ACCIDENTS)
    return normal
