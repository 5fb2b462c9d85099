"""Claims of documents beside made effects (audit, table 1.3): which word is said how often."""

from collections.abc import Mapping

import numpy as np

from reports.stats.claim_verdicts import ClaimVerdict, judge_claim
from reports.stats.claimed_effect import ClaimedEffect
from tests.error_rates.judged import THRESHOLDS, judge
from tests.error_rates.made import Noise, make_arms
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
    truth: float, what: str, claim: ClaimedEffect, seeds: int, audit: Mapping[ClaimVerdict, str], **options
) -> Case:
    """options: `noise`; `bars`, of words that would be wrong: verdict -> how often they may be said."""
    bars = options.get("bars", {})
    noise = options.get("noise", Noise())
    margin = THRESHOLDS.margin("nats", claim.size)

    def draw(generator: np.random.Generator) -> Table:
        effect = judge(make_arms(generator, {"control": 0.0, "t1": truth}, seeds, noise)).effects["t1"]
        word = judge_claim(effect, claim, margin, THRESHOLDS).verdict
        sized = word in (ClaimVerdict.SMALLER, ClaimVerdict.LARGER)
        wrong = sized and (effect.delta > 0) != (claim.direction == "increase")
        return {**{each.value: word is each for each in WORDS}, WRONG_SIGN: wrong}

    of_a_size = claim.size is not None  # without one, only three words can be said
    words = WORDS if of_a_size else (ClaimVerdict.REPLICATED, ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_SHOWN)
    questions = {word.value: Bar(audit.get(word, ""), most=bars.get(word)) for word in words}
    questions |= {WRONG_SIGN: Bar(most=0.0)} if of_a_size else {}
    return Case("1.3", f"truth {truth:+g}, claim {what}, n={seeds}", draw, questions)


def _old(replicated: str, smaller: str, larger: str, contradicted: str, inconclusive: str) -> dict[ClaimVerdict, str]:
    """Of the audit's words; its `inconclusive` stands beside `not shown`."""
    words = (ClaimVerdict.REPLICATED, *WORDS[2:])
    return dict(zip(words, (replicated, smaller, larger, contradicted, inconclusive), strict=True))


TRUE = {ClaimVerdict.SMALLER: 0.025, ClaimVerdict.LARGER: 0.025, ClaimVerdict.CONTRADICTED: 0.025}
"""What may be said of a true claim, by chance: half of 5 % on each side."""
AT_EDGE = {ClaimVerdict.REPLICATED: 0.025, ClaimVerdict.SMALLER: 0.025, ClaimVerdict.CONTRADICTED: 0.025}
"""Of a truth at the edge of the claim's zone."""
FALSE = {ClaimVerdict.REPLICATED: 0.025}

CASES = [
    _case(-0.04, "-.04", VALUE_40, 4, _old("57.0", "0.2", "0.5", "0", "42.3"), bars=TRUE),
    _case(-0.04, "-.04", VALUE_40, 8, _old("85.2", "0", "0", "0", "14.8"), bars=TRUE),
    _case(0.0, "-.04", VALUE_40, 4, _old("0", "53.5", "0", "4.5", "42.0"), bars=FALSE),
    _case(0.0, "-.04", VALUE_40, 8, _old("0", "89.3", "0", "8.2", "2.5"), bars=FALSE),
    _case(-0.02, "-.04", VALUE_40, 4, _old("6.8", "11.3", "0", "0.5", "81.3"), bars=FALSE),
    _case(-0.02, "-.04", VALUE_40, 8, _old("7.7", "23.7", "0", "0", "68.7"), bars=FALSE),
    _case(-0.03, "-.04", VALUE_40, 4, _old("38.7", "2.0", "0", "0", "59"), bars=AT_EDGE),
    _case(-0.03, "-.04", VALUE_40, 8, _old("47.0", "3.7", "0", "0", "49"), bars=AT_EDGE),
    _case(
        -0.03,
        "-.04, sd .0015",
        VALUE_40,
        8,
        _old("53.7", "1.5", "0", "0", "44.8"),
        bars=AT_EDGE,
        noise=Noise(training=0.0014, run_by_games=0.0005),
    ),
    _case(-0.01, "-.01", VALUE_10, 4, _old("0.7", "1.8", "2.3", "0.2", "95"), bars=TRUE),
    _case(-0.01, "-.01", VALUE_10, 8, _old("3.3", "1.3", "1.0", "0", "94"), bars=TRUE),
    _case(0.0, "-.01", VALUE_10, 4, _old("0.7", "6.3", "0.2", "2.5", "90"), bars=FALSE),
    _case(0.0, "-.01", VALUE_10, 8, _old("0.8", "15.8", "0", "2.7", "81"), bars=FALSE),
    _case(0.01, "-.01", VALUE_10, 4, _old("0", "15.2", "0", "11.2", "74"), bars=FALSE),
    _case(0.01, "-.01", VALUE_10, 8, _old("0", "39.5", "0", "22.8", "38"), bars=FALSE),
    _case(0.0, "of a decrease", DECREASE, 4, _old("1.8", "", "", "2.8", "95"), bars=FALSE),
    _case(0.0, "of a decrease", DECREASE, 8, _old("2.7", "", "", "2.7", "95"), bars=FALSE),
    _case(-0.02, "of a decrease", DECREASE, 4, {}, bars=TRUE),
    _case(0.0, "of no change", NO_CHANGE, 4, _old("0", "", "", "4.8", "95"), bars={ClaimVerdict.CONTRADICTED: 0.055}),
    _case(0.0, "of no change", NO_CHANGE, 8, _old("0", "", "", "3.7", "95"), bars={ClaimVerdict.CONTRADICTED: 0.055}),
    _case(0.01, "of no change", NO_CHANGE, 4, _old("0", "", "", "8.7", "91"), bars=FALSE),
    _case(0.01, "of no change", NO_CHANGE, 8, _old("0", "", "", "18.2", "82"), bars=FALSE),
    _case(0.0, "of at most -.01", AT_MOST_10, 4, _old("2.2", "7.0", "", "1.0", "90"), bars=FALSE),
    _case(0.0, "of at most -.01", AT_MOST_10, 8, _old("2.8", "13.0", "", "2.5", "82"), bars=FALSE),
]
"""Every row of the audit's table of claims."""
