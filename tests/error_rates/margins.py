"""`no effect` at a true effect on its margin, and the bound that is said with `not shown` (audit, 1.3)."""

import numpy as np

from reports.stats.verdicts import EffectVerdict
from tests.error_rates.judged import THRESHOLDS, judge, toggles
from tests.error_rates.made import Noise, make_arms
from tests.error_rates.rates import Bar, Case, Table

NO_EFFECT = "no effect"
ABOVE, BELOW = "truth above the 90 % interval", "truth below the 90 % interval"
BEYOND, PRINTED = "truth larger than the bound", "so, and the bound is printed"
MARGIN = THRESHOLDS.smallest("nats")


def _no_effect(run: float, seeds: int, truth: float) -> Case:
    noise = Noise(training=0.95 * run, run_by_games=0.3 * run, arm_by_games=0.0002)

    def draw(generator: np.random.Generator) -> Table:
        table = judge(make_arms(generator, {"control": 0.0, "t1": truth}, seeds, noise))
        return {NO_EFFECT: table.verdicts["t1"] is EffectVerdict.NO_EFFECT}

    name = f"no effect at a truth of {truth:g}, sd of a run {run:g}, n={seeds}"
    return Case("1.3", name, draw, {NO_EFFECT: Bar("0-4.0", most=0.05)})


def _bound(count: int, truth: float) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        table = judge(make_arms(generator, toggles(count, truth), 4))
        effect = table.effects["t1"]
        assert effect.interval90 is not None and effect.bound is not None
        beyond = abs(truth) > effect.bound
        return {
            ABOVE: truth > effect.interval90.high,
            BELOW: truth < effect.interval90.low,
            BEYOND: beyond,
            PRINTED: beyond and table.verdicts["t1"] is EffectVerdict.NOT_SHOWN,
        }

    bars = {question: Bar(most=0.05) for question in (ABOVE, BELOW, BEYOND, PRINTED)}
    return Case("1.3", f"bound of a truth of {truth:g}, n=4, T={count}", draw, bars)


CASES = [
    *(
        _no_effect(run, seeds, truth)
        for run in (0.0005, 0.001, 0.002, 0.0127)
        for seeds in (4, 8)
        for truth in (MARGIN, 1.05 * MARGIN)
    ),
    *(_bound(count, truth) for count in (1, 5) for truth in (0.0, 0.01, 0.02, 0.04)),
]
"""The audit's 16 settings, of which it printed the range; bars: each side of the 90 % interval errs at most 5 %."""
