"""Looks at a growing number of seeds: whether a card without an effect is ever shown, and how many seeds its arm takes.

An arm stops when its effect is shown at a look, or, where a futility bound was set, when it is smaller than that.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reports.stats.looks import repeated_p
from reports.stats.verdicts import with_q
from tests.error_rates.judged import THRESHOLDS, effects_of, is_shown, model_of
from tests.error_rates.made import PLAIN, Noise, Runs, add_one, make_runs
from tests.error_rates.rates import Bar, Case, Table

SEEDS = (4, 8, 12, 16)
EVER, FIRST, SPENT = "any without an effect ever shown", "the first shown", "seeds of its arm"


def taken(runs: Runs, seeds: Sequence[int], futility: float | None = None) -> tuple[set[int], dict[int, int]]:
    """Levels that were shown at any look, and the seeds of each when its arm stopped."""
    count = runs.changes.shape[1]
    stopped: dict[int, int] = {}
    shown: set[int] = set()
    found: dict[int, list[float]] = {level: [] for level in range(count)}
    for look, now in enumerate(seeds):
        most = np.array([stopped.get(level, now) for level in range(count)])
        kept = runs.seeds < np.where(runs.changes.any(1), runs.changes @ most, now)
        effects, _ = effects_of(model_of(runs.only(kept)))
        p = {level: [*found[level], float(each.p or 0.0)] for level, each in effects.items()}
        repeated = {level: replace(each, p=repeated_p(tuple(seeds), p[level])) for level, each in effects.items()}
        for level, each in with_q(repeated, THRESHOLDS).items():
            if level in stopped:
                continue
            found[level] = p[level]
            if is_shown(each):
                shown.add(level)
            small = futility is not None and each.interval90 is not None and each.interval90.within(futility)
            if level in shown or small or look + 1 == len(seeds):
                stopped[level] = now
    return shown, stopped


def _case(count: int, first: float = 0.0, futility: float | None = None, noise: Noise = PLAIN, what: str = "") -> Case:
    """The first of some levels has a true effect, the others none."""
    truths = np.array([first] + [0.0] * (count - 1))

    def draw(generator: np.random.Generator) -> Table:
        shown, stopped = taken(make_runs(generator, add_one(count, SEEDS[-1]), truths, noise), SEEDS, futility)
        return {EVER: any(truths[level] == 0 for level in shown), FIRST: 0 in shown, SPENT: stopped[0]}

    bars = {EVER: Bar(most=0.06)} if count > 1 or not first else {}
    bars |= {FIRST: Bar(), SPENT: Bar(unit="seeds")} if first or futility else {}
    stop = f", futility {futility:g}" if futility else ""
    return Case("looks", f"{count} cards, the first {first:g}{stop}{what}", draw, bars, 0.2 if count > 5 else 0.4)


def _unplanned(count: int, more: Sequence[int]) -> Case:
    """Seeds added after a look that was the study's only one: looks from then on, of which the first spent 5 %."""

    def draw(generator: np.random.Generator) -> Table:
        runs = make_runs(generator, add_one(count, more[-1]), np.zeros(count))
        ever, found = False, dict[int, list[float]]()
        for look, now in enumerate(more):
            effects, _ = effects_of(model_of(runs.only(runs.seeds < now)))
            for level, each in effects.items():
                found.setdefault(level, []).append(float(each.p or 0.0))
            spent = tuple(more[: look + 1])
            now_p = {level: replace(each, p=repeated_p(spent, found[level])) for level, each in effects.items()}
            ever |= any(is_shown(each) for each in with_q(now_p, THRESHOLDS).values())
        return {EVER: ever}

    name = f"{count} cards, seeds added without a plan: {', '.join(map(str, more))}"
    return Case("looks", name, draw, {EVER: Bar()}, 0.4)


NOISY = Noise(scale={0: 3.0})
CASES = [
    *(_case(count) for count in (1, 5, 16)),
    *(_case(count, noise=NOISY, what=", the first 3x as noisy") for count in (1, 5, 16)),
    *(_case(1, first) for first in (0.02, 0.03)),
    *(_case(1, first, futility=0.02) for first in (0.0, 0.02)),
    _case(5, 0.03),
    _unplanned(1, (4, 8)),
    _unplanned(5, (4, 8)),
    _unplanned(1, (4, 8, 12, 16)),
]
