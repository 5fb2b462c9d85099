"""A user adds seeds until an effect is shown where there is none (audit, table 2.3).

The first look is the whole study of its time, at alpha; all later ones were not planned and share what is left.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from reports.stats.analysis import Comparison, estimate_comparisons
from reports.stats.clusters import ArmResult
from reports.stats.family import adjust
from reports.stats.looks import later_level
from reports.stats.seed_noise import Differences
from tests.error_rates.judged import CONTROL, THRESHOLDS, judge, toggles
from tests.error_rates.made import first_seeds, make_arms
from tests.error_rates.rates import Bar, Case, Table

EVER, WITHOUT = "ever shown", "at alpha each time"
EARLIER = 4
"""Toggles of an earlier study on the same base, of which the pool is made where there is one."""


def unplanned_levels(seeds: Sequence[int], cards: int) -> tuple[float, ...]:
    """The level of each look, of which only the first was planned."""
    levels: tuple[float, ...] = (THRESHOLDS.alpha,)
    for look in range(1, len(seeds)):
        levels += (later_level(tuple(seeds[:look]), levels, seeds[look], THRESHOLDS.alpha, cards),)
    return levels


def earlier_differences(generator: np.random.Generator, seeds: int = 4) -> dict[str, Differences]:
    """Of a study made before on the same base."""
    arms = make_arms(generator, {f"earlier {arm}": level for arm, level in toggles(EARLIER).items()}, seeds)
    return dict(judge(arms, control="earlier control").differences)


def _least_p(arms: Mapping[str, ArmResult], prior: Mapping[str, Differences] | None) -> float:
    """The smallest adjusted p of a table."""
    if prior is not None:
        return min(effect.p_adjusted or 0.0 for effect in judge(arms, prior=prior).effects.values())
    comparisons = {name: Comparison((name,), (CONTROL,)) for name in arms if name != CONTROL}
    return min(adjust(estimate_comparisons(arms, comparisons, THRESHOLDS)).values())


def _case(seeds: Sequence[int], count: int, audit: str, pooled: bool = False, share: float = 1.0) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        arms = make_arms(generator, toggles(count), seeds[-1])
        prior = earlier_differences(generator) if pooled else None
        ever = without = False
        for look, level in zip(seeds, unplanned_levels(seeds, count), strict=True):
            p = _least_p(first_seeds(arms, look), prior)
            ever |= p < level
            without |= p < THRESHOLDS.alpha
        return {EVER: ever, WITHOUT: without}

    by = "at once" if len(seeds) == 2 else f"by {seeds[1] - seeds[0]}"
    name = f"{seeds[0]} to {seeds[-1]} seeds {by}, T={count}{', with a pool' if pooled else ''}"
    return Case("2.3", name, draw, {EVER: Bar(audit, most=0.055), WITHOUT: Bar(audit)}, share)


CASES = [
    _case((3, 4), 1, "7.9"),
    _case((3, 4), 1, "7.4", pooled=True),
    _case(range(3, 9), 1, "14.8"),
    _case(range(3, 9), 1, "13.1", pooled=True),
    _case(range(4, 9), 1, "12.1"),
    _case(range(4, 9), 1, "11.6", pooled=True),
    _case((4, 8), 1, "8.7"),
    _case((4, 8), 1, "8.5", pooled=True),
    _case(range(4, 17), 1, "18.8"),
    _case(range(4, 17), 1, "17.1", pooled=True),
    _case(range(4, 17, 4), 1, "13.7"),
    _case(range(4, 17, 4), 1, "13.0", pooled=True),
    _case(range(3, 33), 1, "27.2", share=0.25),
    _case(range(4, 65), 1, "31.0", share=0.1),
    _case(range(4, 9), 5, "8.9", share=0.5),
    _case(range(4, 17), 5, "15.2", share=0.25),
    _case(range(4, 9), 17, "6.1", share=0.1),
]
"""The audit's ways to look again; bar: 5 %, and the half per cent that later looks share."""
