"""Claims of documents beside made effects: which word is said how often."""

from collections.abc import Mapping

import numpy as np

from reports.claims.verdicts import ClaimedEffect, ClaimVerdict, judge_claim
from tests.error_rates.judged import THRESHOLDS, effects_of, model_of
from tests.error_rates.made import PLAIN, Noise, add_one, make_runs
from tests.error_rates.rates import Bar, Case, Table

WORDS = (
    ClaimVerdict.REPLICATED,
    ClaimVerdict.CONSISTENT,
    ClaimVerdict.SMALLER,
    ClaimVerdict.LARGER,
    ClaimVerdict.CONTRADICTED,
    ClaimVerdict.NOT_SHOWN,
)
WRONG_SIGN = "smaller or larger with the other sign"

VALUE_40 = ClaimedEffect("decrease", -0.04, -0.04)
VALUE_10 = ClaimedEffect("decrease", -0.01, -0.01)
DECREASE = ClaimedEffect("decrease")
NO_CHANGE = ClaimedEffect("no_change")
AT_MOST_10 = ClaimedEffect("decrease", float("-inf"), -0.01)


def _case(
    truth: float, what: str, claim: ClaimedEffect, seeds: int, bars: Mapping[ClaimVerdict, float], noise: Noise = PLAIN
) -> Case:
    """bars: of words that would be wrong, how often they may be said."""
    margin = THRESHOLDS.margin("nats", claim.size)

    def draw(generator: np.random.Generator) -> Table:
        effects, _ = effects_of(model_of(make_runs(generator, add_one(1, seeds), [truth], noise)))
        effect = effects[0]
        word = judge_claim(effect, claim, margin, THRESHOLDS).verdict
        sized = word in (ClaimVerdict.SMALLER, ClaimVerdict.LARGER)
        wrong = sized and (effect.delta > 0) != (claim.direction == "increase")
        return {**{each.value: word is each for each in WORDS}, WRONG_SIGN: wrong}

    of_a_size = claim.size is not None  # without one, only three words can be said
    words = WORDS if of_a_size else (ClaimVerdict.REPLICATED, ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_SHOWN)
    questions = {word.value: Bar(most=bars.get(word)) for word in words}
    questions |= {WRONG_SIGN: Bar(most=0.0)} if of_a_size else {}
    return Case("claims", f"truth {truth:+g}, claim {what}, n={seeds}", draw, questions)


TRUE = {ClaimVerdict.SMALLER: 0.025, ClaimVerdict.LARGER: 0.025, ClaimVerdict.CONTRADICTED: 0.025}
"""What may be said of a true claim, by chance: half of 5 % on each side."""
AT_EDGE = {ClaimVerdict.REPLICATED: 0.025, ClaimVerdict.SMALLER: 0.025, ClaimVerdict.CONTRADICTED: 0.025}
"""Of a truth at the edge of the claim's zone."""
FALSE = {ClaimVerdict.REPLICATED: 0.025}

BOTH = (4, 8)
CASES = [
    *(_case(-0.04, "-.04", VALUE_40, seeds, TRUE) for seeds in BOTH),
    *(_case(0.0, "-.04", VALUE_40, seeds, FALSE) for seeds in BOTH),
    *(_case(-0.02, "-.04", VALUE_40, seeds, FALSE) for seeds in BOTH),
    *(_case(-0.03, "-.04", VALUE_40, seeds, AT_EDGE) for seeds in BOTH),
    _case(-0.03, "-.04, sd .0015", VALUE_40, 8, AT_EDGE, Noise(training=0.0014, run_by_games=0.0005)),
    *(_case(-0.01, "-.01", VALUE_10, seeds, TRUE) for seeds in BOTH),
    *(_case(0.0, "-.01", VALUE_10, seeds, FALSE) for seeds in BOTH),
    *(_case(0.01, "-.01", VALUE_10, seeds, FALSE) for seeds in BOTH),
    *(_case(0.0, "of a decrease", DECREASE, seeds, FALSE) for seeds in BOTH),
    _case(-0.02, "of a decrease", DECREASE, 4, TRUE),
    *(_case(0.0, "of no change", NO_CHANGE, seeds, {ClaimVerdict.CONTRADICTED: 0.055}) for seeds in BOTH),
    *(_case(0.01, "of no change", NO_CHANGE, seeds, FALSE) for seeds in BOTH),
    *(_case(0.0, "of at most -.01", AT_MOST_10, seeds, FALSE) for seeds in BOTH),
]
