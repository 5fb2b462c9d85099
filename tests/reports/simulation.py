"""Simulated studies with known effects: the four kinds of noise that a measured difference has (spec: feasibility
3)."""

from dataclasses import dataclass

import numpy as np

from reports.stats.clusters import ArmResult


@dataclass(frozen=True)
class Noise:
    """Standard deviations in nats; arm noises are per arm, a difference holds sqrt 2 of them.

    seed: what all arms of a seed have in common (it cancels in pairs); arm: of an arm's true loss at one seed; game: of
    a game's difficulty for all nets; taste: of a game's mean for one arm with every seed; quirk: for one arm at one
    seed; the last three for a game of 200 positions.
    """

    seed: float = 0.0075
    arm: float = 0.0066
    game: float = 0.25
    taste: float = 0.014
    quirk: float = 0.042


def simulate(
    generator: np.random.Generator,
    effects: list[float],
    seeds: int = 4,
    games: int = 100,
    noise: Noise = Noise(),
    arm_scale: list[float] | None = None,
) -> dict[str, ArmResult]:
    """Arms `control`, `t0`, `t1`, ... with true differences `effects`; arm_scale multiplies each arm's seed noise
    (control first).

    Games have 60-340 positions and a scale of their own (log-normal), so a few games carry much of the evaluation
    noise.
    """
    arms = len(effects) + 1
    counts = generator.integers(60, 341, size=games)
    wild = generator.lognormal(0.0, 0.5, size=games) * np.sqrt(200 / counts)
    scale = np.ones(arms) if arm_scale is None else np.asarray(arm_scale)
    true = 2.53 + np.concatenate([[0.0], effects])
    means = (
        true[:, None, None]
        + noise.seed * generator.standard_normal((1, seeds, 1))
        + noise.arm * (scale[:, None] * generator.standard_normal((arms, seeds)))[:, :, None]
        + noise.game * generator.standard_normal(games)
        + noise.taste * wild * generator.standard_normal((arms, 1, games))
        + noise.quirk * wild * generator.standard_normal((arms, seeds, games))
    )
    names = ["control", *(f"t{index}" for index in range(len(effects)))]
    return {name: ArmResult(tuple(range(seeds)), means[index] * counts, counts) for index, name in enumerate(names)}
