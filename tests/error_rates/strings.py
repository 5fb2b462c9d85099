"""Interactions in screens (audit, table 3.5): is any claimed where there is none; are they found where there are?"""

import numpy as np

from reports.stats.interactions import find_interactions
from reports.stats.runs import Runs
from tests.error_rates.judged import THRESHOLDS
from tests.error_rates.rates import Bar, Case, Table
from tests.error_rates.screens import COMPARISONS, screen_runs

TEST, ANY_STRING = "F test of the strings", "any string shown"


def _case(tau: float, audit: str) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        runs = Runs(screen_runs(generator, 32, tau), COMPARISONS)
        found = find_interactions(runs, THRESHOLDS, {})
        assert found.two_card is not None, "runs are repeated"
        return {TEST: found.two_card.p < THRESHOLDS.alpha, ANY_STRING: bool(found.shown(THRESHOLDS.alpha))}

    most = None if tau else 0.055
    bars = {TEST: Bar(audit, most=most), ANY_STRING: Bar(most=most)}
    return Case("3.5", f"strings of 8 cards in 32 runs, interactions {tau:g}", draw, bars)


CASES = [_case(0.0, "5.2"), _case(0.002, "25"), _case(0.004, "73")]
"""The audit's sizes of interactions."""
