"""The bound that is said with `not shown`: how often the truth is beyond it."""

import numpy as np

from tests.error_rates.judged import effects_of, is_shown, model_of
from tests.error_rates.made import add_one, make_runs
from tests.error_rates.rates import Bar, Case, Table

ABOVE, BELOW = "truth above the 90 % interval", "truth below the 90 % interval"
BEYOND, PRINTED = "truth larger than the bound", "so, and the bound is printed"


def _case(count: int, truth: float) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        effects, _ = effects_of(model_of(make_runs(generator, add_one(count, 4), [truth] * count)))
        effect = effects[0]
        assert effect.interval90 is not None and effect.bound is not None
        beyond = abs(truth) > effect.bound
        return {
            ABOVE: truth > effect.interval90.high,
            BELOW: truth < effect.interval90.low,
            BEYOND: beyond,
            PRINTED: beyond and not is_shown(effect),
        }

    bars = dict.fromkeys((ABOVE, BELOW, BEYOND, PRINTED), Bar(most=0.055))
    return Case("bounds", f"bound of a truth of {truth:g}, {count} alone, n=4", draw, bars)


CASES = [_case(count, truth) for count in (1, 5) for truth in (0.0, 0.01, 0.02, 0.04)]
