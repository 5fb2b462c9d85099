"""Pages over several studies without any effect (audit, table 2.1): is anything on the page said to help or hurt?

Studies of a base share its control, and each one's pool of seed noise holds those that were made before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reports.stats.estimates import Effect
from reports.stats.family import adjust
from reports.stats.seed_noise import Differences
from tests.error_rates.judged import THRESHOLDS, judge
from tests.error_rates.made import Noise, make_arms
from tests.error_rates.rates import Bar, Case, Table

OWN, ON_PAGE = "any false, study by study", "any false on the page"
OF_A_BASE, BASE_BY_BASE = "any false of a base", "any false on the page, were each base a family"


@dataclass(frozen=True)
class Base:
    """The studies of one base: the number of toggles of each, in the order in which they were made."""

    studies: Sequence[int]
    seeds: int = 4
    scale: Mapping[str, float] = field(default_factory=dict)


def page_effects(generator: np.random.Generator, base: Base, name: str = "base") -> tuple[dict[str, Effect], bool]:
    """Effects by toggle of all studies of a base, and whether any study by itself calls one helping or hurting."""
    control = f"{name} control"
    names = [f"{name} t{index}" for index in range(1, sum(base.studies) + 1)]
    scale = {f"{name} {arm}": factor for arm, factor in base.scale.items()}
    arms = make_arms(generator, dict.fromkeys([control, *names], 0.0), base.seeds, Noise(scale=scale))
    effects: dict[str, Effect] = {}
    prior: dict[str, Differences] = {}
    any_own, rest = False, iter(names)
    for size in base.studies:
        table = judge(arms, [next(rest) for _ in range(size)], prior, control=control)
        any_own |= _any_false(table.effects)
        effects |= table.effects
        prior |= table.differences
    return effects, any_own


def _shown(effect: Effect, p: float) -> bool:
    return effect.n >= THRESHOLDS.min_seeds and p < THRESHOLDS.alpha


def _case(name: str, audit: str, *bases: Base) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        made = [page_effects(generator, base, f"base {index}") for index, base in enumerate(bases)]
        of_base = [_any_false(effects) for effects, _ in made]
        page = {each: effect for effects, _ in made for each, effect in effects.items()}
        return {
            OWN: any(own for _, own in made),
            OF_A_BASE: np.mean(of_base),
            BASE_BY_BASE: any(of_base),
            ON_PAGE: _any_false(page),
        }

    bars = {OWN: Bar(audit), ON_PAGE: Bar(audit, most=0.055)}
    if len(bases) > 1:
        bars |= {OF_A_BASE: Bar(most=0.055), BASE_BY_BASE: Bar()}
    return Case("2.1", name, draw, bars)


def _any_false(effects: Mapping[str, Effect]) -> bool:
    """Whether the page says of any effect of a family that it helps or hurts."""
    return any(_shown(effects[each], p) for each, p in adjust(effects).items())


SINGLES_AND_TRIPLE = (3, 1, 1, 1, 1, 1)
CASES = [
    _case("8 toggles in one study", "2.3", Base((8,))),
    _case("5 singles and a triple", "16.6", Base(SINGLES_AND_TRIPLE)),
    _case("8 singles", "21.2", Base((1,) * 8)),
    _case("9 toggles in 7 studies", "19.2", Base((*SINGLES_AND_TRIPLE, 1))),
    _case(
        "17 toggles in 10 studies on 5 bases",
        "27.9",
        Base(SINGLES_AND_TRIPLE),
        Base((3,), seeds=3),
        Base((3,), seeds=3),
        Base((2,), seeds=3),
        Base((1,), seeds=3),
    ),
    _case("5 singles and a triple, a treatment 3x as noisy", "", Base(SINGLES_AND_TRIPLE, scale={"t5": 3.0})),
    _case("5 singles and a triple, a treatment 4x as noisy", "", Base(SINGLES_AND_TRIPLE, scale={"t5": 4.0})),
    _case("5 singles and a triple, control 3x as noisy", "", Base(SINGLES_AND_TRIPLE, scale={"control": 3.0})),
]
"""The pages of the audit: that of results/report (one base, 9 toggles), and that of results/kgs-cpu. All
effects of a page are one family: with one for each base every base keeps to its bar, but the page does not."""
