"""Growing workspaces: a study is added to a base each week, and its page is read each time. Only shown: q promises what
it does for one reading of a page."""

import numpy as np

from tests.error_rates.judged import effects_of, false_share, is_shown, model_of
from tests.error_rates.made import PLAIN, Arm, Noise, add_one, make_runs, screen
from tests.error_rates.rates import Bar, Case, Table

WEEKS, CARDS = 10, 2
"""Readings, and cards that are new at each."""
EVER, AT_ONCE, LAST = (
    "any false ever shown in 10 weeks",
    "false among those shown, a reading",
    "... at the last reading",
)
CHANGED = "words taken back, of those ever shown"
SCREEN = 5
"""The week in which the cards up to then are screened together."""


def _case(name: str, null: float, screened: bool = False, noise: Noise = PLAIN) -> Case:
    levels = WEEKS * CARDS

    def draw(generator: np.random.Generator) -> Table:
        truths = np.where(generator.random(levels) < null, 0.0, generator.choice([-0.04, -0.02, 0.02, 0.04], levels))
        arms: list[Arm] = add_one(levels, 4)
        weeks = [0, *(1 + level // CARDS for level in range(levels))]
        if screened:
            more = screen(SCREEN * CARDS, 32, 2)
            arms += [([*row, *[0.0] * (levels - len(row))], seeds) for row, seeds in more]
            weeks += [SCREEN] * len(more)
        runs, of_run = make_runs(generator, arms, truths, noise), np.repeat(weeks, [len(seeds) for _, seeds in arms])
        false: set[int] = set()
        ever: set[int] = set()
        shares, last = [], set[int]()
        for week in range(1, WEEKS + 1):
            effects, _ = effects_of(model_of(runs.only(of_run <= week, week * CARDS)))
            shown = {level: each for level, each in effects.items() if is_shown(each)}
            shares.append(false_share(shown, truths))
            false |= {level for level, each in shown.items() if each.delta * truths[level] <= 0}
            ever, last = ever | set(shown), set(shown)
        return {
            EVER: bool(false),
            AT_ONCE: np.mean(shares),
            LAST: shares[-1],
            CHANGED: len(ever - last) / len(ever) if ever else np.nan,
        }

    return Case("growing", name, draw, dict.fromkeys((EVER, AT_ONCE, LAST, CHANGED), Bar()), 0.05)


CASES = [
    _case("2 cards a week, nothing", 1.0),
    _case("2 cards a week, 75 % nothing", 0.75),
    _case("2 cards a week, a screen in week 5, nothing", 1.0, screened=True),
    _case("2 cards a week, a screen in week 5, 75 % nothing", 0.75, screened=True),
]
