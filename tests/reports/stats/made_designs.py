"""Runs of made designs with known effects and interactions."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from ablations.screens.fractions import Screen, make_screen
from reports.stats.analysis import Comparison
from reports.stats.clusters import ArmResult
from tests.reports.simulation import Noise

SHARP = Noise(seed=0.006, arm=0.001, taste=0.0, quirk=0.0)


def full(cards: Sequence[str]) -> tuple[dict[str, frozenset[str]], dict[str, Comparison]]:
    """All combinations of cards: arm -> what is on in it, and the comparisons."""
    arms = {}
    for count in range(len(cards) + 1):
        for some in itertools.combinations(cards, count):
            arms["+".join(some) or "none"] = frozenset(some)
    return arms, {card: _comparison(arms, card, arms) for card in cards}


def screened(cards: Sequence[str], exclusive: Sequence[str] = ()) -> tuple[Screen, dict, dict[str, Comparison]]:
    """The screen of cards, its arms as in `full`, its comparisons. exclusive: cards never changed together."""
    screen = make_screen(list(cards), lambda one, other: one in exclusive and other in exclusive)
    arms = {f"run-{number:02d}": changed for number, changed in enumerate(screen.changed, 1)}
    comparisons = {}
    for card, column in screen.columns.items():
        varied = [arm for arm, part in zip(arms, screen.fraction_of, strict=True) if part in column.fractions]
        comparisons[card] = _comparison(arms, card, varied)
    return screen, arms, comparisons


def _comparison(arms, card, varied) -> Comparison:
    return Comparison([a for a in varied if card in arms[a]], [a for a in varied if card not in arms[a]])


def seeds_of(screen: Screen, seeds: Sequence[int], runs: int) -> dict[str, tuple[int, ...]]:
    """The seeds of each arm of a screen."""
    return {f"run-{arm + 1:02d}": screen.seeds_of(arm, seeds, runs) for arm in range(screen.arms)}


def trained(
    arms: Mapping[str, frozenset[str]],
    seeds: Sequence[int] | Mapping[str, Sequence[int]],
    effects: Mapping[str, float],
    interactions: Mapping[frozenset[str], float] | None = None,
    noise: Noise = SHARP,
    number: int = 0,
    games: int = 60,
) -> dict[str, ArmResult]:
    """Results of arms. effects: with minus without, mean over the others on and off; interactions: half of what the
    effect of one differs by with and without the other."""
    generator = np.random.default_rng(number)
    counts = generator.integers(60, 341, size=games)
    levels, hard = {}, noise.game * generator.standard_normal(games)
    found = {}
    for arm, on in arms.items():
        own = seeds[arm] if isinstance(seeds, Mapping) else seeds
        sign = {card: 1 if card in on else -1 for card in effects}
        true = 2.5 + sum(size * sign[card] / 2 for card, size in effects.items())
        for pair, size in (interactions or {}).items():
            true += size / 2 * np.prod([sign[card] for card in pair])
        taste = noise.taste * generator.standard_normal(games)
        sums = []
        for seed in own:
            level = levels.setdefault(seed, noise.seed * np.random.default_rng([number, seed]).standard_normal())
            quirk = noise.quirk * generator.standard_normal(games)
            run = true + level + noise.arm * generator.standard_normal()
            sums.append((run + hard + taste + quirk) * counts)
        found[arm] = ArmResult(tuple(own), np.array(sums), counts)
    return found
