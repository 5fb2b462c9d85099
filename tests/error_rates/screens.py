"""Screens of eight cards in 16 arms of resolution IV (audit, table 3.5): main effects, with interactions or without."""

import itertools

import numpy as np

from ablations.screens.fractions import make_screen
from reports.stats.analysis import Comparison
from reports.stats.clusters import ArmResult
from reports.stats.linear import analyse_runs
from tests.error_rates.judged import SHOWN, THRESHOLDS, covered
from tests.error_rates.made import SHARED, Noise, make_arms
from tests.error_rates.rates import Bar, Case, Table

CARDS = tuple("abcdefgh")
SCREEN = make_screen(CARDS, lambda one, other: False)
ARMS = tuple(f"run-{number + 1:02d}" for number in range(SCREEN.arms))
COMPARISONS = {
    card: Comparison(
        [arm for arm, changed in zip(ARMS, SCREEN.changed, strict=True) if card in changed],
        [arm for arm, changed in zip(ARMS, SCREEN.changed, strict=True) if card not in changed],
    )
    for card in CARDS
}
COVERAGE, ANY_FALSE, SHOWN_TRUE = "coverage", "any false verdict", "the true effect shown"
SEEDS = (1, 2)


def screen_runs(
    generator: np.random.Generator, runs: int, tau: float, first: float = 0.0, shared: float = SHARED
) -> dict[str, ArmResult]:
    """The arms of a screen whose first card has an effect and all pairs have interactions of sd `tau`, on the scale of
    effects; none of the others has an effect, as a mean over the others on and off."""
    pairs = list(itertools.combinations(range(len(CARDS)), 2))
    sizes = tau * generator.standard_normal(len(pairs))
    signs = np.array([[1.0 if card in changed else -1.0 for card in CARDS] for changed in SCREEN.changed])
    levels = first * signs[:, 0] / 2
    for size, (one, other) in zip(sizes, pairs, strict=True):
        levels = levels + size * signs[:, one] * signs[:, other] / 2
    seeds = {arm: SCREEN.seeds_of(number, SEEDS, runs) for number, arm in enumerate(ARMS)}
    return make_arms(generator, dict(zip(ARMS, levels.tolist(), strict=True)), seeds, Noise(shared=shared))


def _case(runs: int, tau: float, first: float, audit: tuple[str, str], shared: float = SHARED) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        arms = screen_runs(generator, runs, tau, first, shared)
        table = analyse_runs(arms, COMPARISONS, THRESHOLDS, "lower")
        hits = [covered(effect, first if card == "a" else 0.0) for card, effect in table.effects.items()]
        shown = {card for card, verdict in table.verdicts.items() if verdict in SHOWN}
        return {
            COVERAGE: np.mean(hits),
            ANY_FALSE: bool(shown - {"a"} if first else shown),
            SHOWN_TRUE: "a" in shown,
        }

    questions = {COVERAGE: Bar(audit[0], least=0.94), ANY_FALSE: Bar("" if first else audit[1], most=0.055)}
    if first:
        questions[SHOWN_TRUE] = Bar(audit[1])
    blocks = f", seeds share {100 * shared:g} %" if shared != SHARED else ""
    return Case("3.5", f"8 cards in {runs} runs, interactions {tau:g}, one effect {first:g}{blocks}", draw, questions)


CASES = [
    _case(32, 0.0, 0.0, ("94.9", "4.5")),
    _case(32, 0.002, 0.0, ("94.7", "4.7")),
    _case(32, 0.004, 0.0, ("95.2", "4.4")),
    _case(32, 0.0, 0.0, ("", ""), shared=0.5),
    _case(16, 0.0, 0.0, ("95.0", "4.4")),
    _case(16, 0.004, 0.0, ("99.4", "0.3")),
    _case(16, 0.0, 0.0, ("", ""), shared=0.5),
    _case(32, 0.0, -0.005, ("", "4")),
    _case(32, 0.0, -0.01, ("", "23")),
    _case(32, 0.0, -0.015, ("", "59")),
    _case(32, 0.0, -0.02, ("", "89")),
    _case(32, 0.0, -0.03, ("", "100")),
    _case(32, 0.004, -0.01, ("", "")),
]
"""The audit's settings; for the power see its table 3.3 (2^(8-4) x 2)."""
