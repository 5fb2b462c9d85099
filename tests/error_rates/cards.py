"""Cards with several claims, each about a number of its own."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from reports.claims.findings import judge_together
from reports.claims.measures import Answer
from reports.claims.verdicts import ClaimedEffect, ClaimVerdict
from tests.error_rates.claims import DECREASE, NO_CHANGE, VALUE_40
from tests.error_rates.judged import THRESHOLDS, effects_of, model_of
from tests.error_rates.made import add_one, make_runs
from tests.error_rates.rates import Bar, Case, Table

ANY_WRONG, RIGHT = "any verdict against the truth", "replicated or consistent, of its claims"
CLAIMS = 6


def _context(number: int) -> Any:
    """What `judge_together` looks at of a claim: the numbers of history planes tell the claims apart."""
    claim = SimpleNamespace(metric="nats", history=number, quantity="difference", statistic=None, probe=None)
    return SimpleNamespace(claim=claim, results=SimpleNamespace(study=SimpleNamespace(thresholds=THRESHOLDS)))


def _case(truth: float, what: str, claim: ClaimedEffect, wrong: set[ClaimVerdict]) -> Case:
    margin = THRESHOLDS.margin("nats", claim.size)

    def draw(generator: np.random.Generator) -> Table:
        answers = []
        for _ in range(CLAIMS):
            effects, _ = effects_of(model_of(make_runs(generator, add_one(1, 4), [truth])))
            answers.append(Answer((effects[0],), (claim,), margin, "", "", None, ()))
        contexts = [_context(number) for number in range(CLAIMS)]
        words = [ClaimVerdict(measured.verdict) for measured in judge_together(contexts, answers)]
        agree = [word in (ClaimVerdict.REPLICATED, ClaimVerdict.CONSISTENT) for word in words]
        return {ANY_WRONG: any(word in wrong for word in words), RIGHT: np.mean(agree)}

    bars = {ANY_WRONG: Bar(most=0.06), RIGHT: Bar()}
    return Case("claims", f"a card of {CLAIMS} claims {what}, truths {truth:+g}, n=4", draw, bars, 0.5)


OF_A_VALUE = {ClaimVerdict.CONTRADICTED, ClaimVerdict.SMALLER, ClaimVerdict.LARGER}
CASES = [
    _case(0.0, "of a decrease", DECREASE, {ClaimVerdict.REPLICATED, ClaimVerdict.CONTRADICTED}),
    _case(0.0, "of no change", NO_CHANGE, {ClaimVerdict.CONTRADICTED}),
    _case(-0.04, "of -.04", VALUE_40, OF_A_VALUE),
    _case(-0.03, "of -.04", VALUE_40, {ClaimVerdict.REPLICATED, *OF_A_VALUE}),
]
"""Numbers that err independently, which gives the most chances."""
