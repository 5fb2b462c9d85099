"""Games between nets with and without an enhancement, seed by seed: coverage of the win rate."""

import numpy as np

from reports.play.win_rates import SeedGames, win_rate_effect
from tests.error_rates.judged import covered
from tests.error_rates.rates import Bar, Case, Table

COVERAGE = "coverage"
GAMES = 100


def _case(seeds: int, between: float, win_rate: float) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        # Rates of the seeds' own nets about the mean, within what a rate can be.
        rates = np.clip(win_rate + between * generator.standard_normal(seeds), 0.01, 0.99)
        won = generator.binomial(GAMES, rates)
        games = [SeedGames(seed, ("with", "without"), float(points), GAMES) for seed, points in enumerate(won)]
        return {COVERAGE: covered(win_rate_effect("card", games), win_rate - 0.5)}

    name = f"win rate {win_rate:g}, sd between seeds {between:g}, n={seeds}"
    return Case("win rates", name, draw, {COVERAGE: Bar(least=0.94)})


CASES = [
    *(_case(seeds, between, 0.5) for seeds in (3, 4, 8) for between in (0.0, 0.05, 0.15)),
    *(_case(4, between, 0.6) for between in (0.0, 0.08)),
]
