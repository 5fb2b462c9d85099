"""What a card does with and without another one, in a design of runs."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reports.stats.runs import Estimate, Runs
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import Thresholds


@dataclass(frozen=True)
class PairTable:
    """Two cards together, means over all other cards on and off.

    cells: (with `one`, with `other`) -> mean; of_one: effect of `one` without and with `other`; of_other the other way
    round; interaction: half of what either differs by.
    """

    one: str
    other: str
    cells: Mapping[tuple[bool, bool], float]
    of_one: tuple[Estimate, Estimate]
    of_other: tuple[Estimate, Estimate]
    interaction: Estimate


def pair_table(
    runs: Runs, one: str, other: str, thresholds: Thresholds, prior: SeedPool | None = None
) -> PairTable | None:
    """Two cards as if theirs were the only interaction of its string; None where the runs do not tell it."""
    model = runs.model(runs.interaction(one, other))
    unit, first = np.eye(model.columns.shape[1]), runs.levels.shape[1]
    mine, theirs = (unit[first + runs.cards.index(card)] for card in (one, other))
    both = unit[-1]
    found = []
    for contrast in (mine - both, mine + both, theirs - both, theirs + both, both):
        estimate = runs.estimate(model, contrast, thresholds, prior)
        if estimate is None:
            return None
        found.append(estimate)
    level = float(runs.values[runs.interaction(one, other) != 0].mean())
    halves = [(found[0].value + found[1].value) / 4, (found[2].value + found[3].value) / 4, found[4].value / 2]
    cells = {
        (x, y): level + _sign(x) * halves[0] + _sign(y) * halves[1] + _sign(x == y) * halves[2]
        for x, y in itertools.product((False, True), repeat=2)
    }
    return PairTable(one, other, cells, (found[0], found[1]), (found[2], found[3]), found[4])


def _sign(positive: bool) -> int:
    return 1 if positive else -1


def effects_alone(
    runs: Runs, thresholds: Thresholds, prior: SeedPool | None = None
) -> dict[str, tuple[Estimate | None, Estimate | None]]:
    """Of a design of all combinations: card -> its effect with all others off, and with all others on; None where an
    arm that it takes has no run, no entry where the design has no such arm."""
    by_signs = {signs: arm for arm, signs in runs.signs.items()}
    arms = list(dict.fromkeys(arm for arm, _ in runs.labels))
    first, model = runs.levels.shape[1], runs.replicates
    found = {}
    for index, card in enumerate(runs.cards):
        estimates: list[Estimate | None] = []
        for others in (-1, 1):
            signs = [tuple(own if k == index else others for k in range(len(runs.cards))) for own in (-1, 1)]
            without, with_it = (by_signs.get(each) for each in signs)
            if without is None or with_it is None:
                break
            if without not in arms or with_it not in arms:
                estimates.append(None)
                continue
            contrast = np.zeros(model.columns.shape[1])
            contrast[first + arms.index(with_it)], contrast[first + arms.index(without)] = 1.0, -1.0
            estimates.append(runs.estimate(model, contrast, thresholds, prior))
        if len(estimates) == 2:
            found[card] = (estimates[0], estimates[1])
    return found
