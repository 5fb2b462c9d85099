"""Cards with several claims, each about a number of its own (audit, 1.3: "six claims have six chances")."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from reports.claims.context import Answer
from reports.claims.together import judge_together
from reports.stats.claim_verdicts import ClaimVerdict
from reports.stats.claimed_effect import ClaimedEffect
from tests.error_rates.claims import DECREASE, NO_CHANGE, VALUE_40
from tests.error_rates.judged import THRESHOLDS, judge
from tests.error_rates.made import make_arms
from tests.error_rates.rates import Bar, Case, Table

ANY_WRONG, RIGHT = "any verdict against the truth", "replicated or consistent, of its claims"
CLAIMS = 6


def _context(number: int) -> Any:
    """What `judge_together` looks at of a claim and its study: the numbers of history planes tell the claims apart."""
    claim = SimpleNamespace(metric="nats", history=number, quantity="difference", statistic=None, probe=None)
    results = SimpleNamespace(study=SimpleNamespace(looks=None), looks=())
    contrast = SimpleNamespace(card="card")
    return SimpleNamespace(claim=claim, thresholds=THRESHOLDS, results=results, contrast=contrast)


def _case(truth: float, what: str, claim: ClaimedEffect, wrong: set[ClaimVerdict]) -> Case:
    margin = THRESHOLDS.margin("nats", claim.size)

    def draw(generator: np.random.Generator) -> Table:
        answers = []
        for _ in range(CLAIMS):
            effect = judge(make_arms(generator, {"control": 0.0, "t1": truth}, 4)).effects["t1"]
            answers.append(Answer((effect,), (claim,), margin, "", "", None, ()))
        contexts = [_context(number) for number in range(CLAIMS)]
        words = [ClaimVerdict(measured.verdict) for measured in judge_together(contexts, answers)]
        agree = [word in (ClaimVerdict.REPLICATED, ClaimVerdict.CONSISTENT) for word in words]
        return {ANY_WRONG: any(word in wrong for word in words), RIGHT: np.mean(agree)}

    bars = {ANY_WRONG: Bar(most=0.055), RIGHT: Bar()}
    return Case("1.3", f"a card of {CLAIMS} claims {what}, truths {truth:+g}, n=4", draw, bars)


OF_A_VALUE = {ClaimVerdict.CONTRADICTED, ClaimVerdict.SMALLER, ClaimVerdict.LARGER}
CASES = [
    _case(0.0, "of a decrease", DECREASE, {ClaimVerdict.REPLICATED, ClaimVerdict.CONTRADICTED}),
    _case(0.0, "of no change", NO_CHANGE, {ClaimVerdict.CONTRADICTED}),
    _case(-0.04, "of -.04", VALUE_40, OF_A_VALUE),
    _case(-0.03, "of -.04", VALUE_40, {ClaimVerdict.REPLICATED, *OF_A_VALUE}),
]
"""Numbers that err independently, which gives the most chances."""
