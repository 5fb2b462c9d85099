"""Verdicts of a study whose pool of seed noise grows with later studies (audit, table 2.2): how often the word changes.

The project keeps the pool of a study's first complete report (`noise.json`), so in its reports this does not happen;
`tests/orchestration/study/test_frozen_noise.py` sees to that.
"""

import numpy as np

from tests.error_rates.judged import CONTROL, judge, toggles
from tests.error_rates.made import make_arms
from tests.error_rates.rates import Bar, Case, Table

CHANGED = "word changed by later studies, were the pool not kept"
EARLIER, LATER = 2, 6


def _case(truth: float, audit: str) -> Case:
    def draw(generator: np.random.Generator) -> Table:
        arms = make_arms(generator, {**toggles(1 + EARLIER + LATER), "t1": truth}, 4)
        others = judge(arms, [arm for arm in arms if arm not in (CONTROL, "t1")]).differences
        first = dict(list(others.items())[:EARLIER])
        words = {judge(arms, ["t1"], prior).verdicts["t1"] for prior in (first, others)}
        return {CHANGED: len(words) > 1}

    return Case("2.2", f"{EARLIER} earlier, {LATER} later studies, truth {truth:g}", draw, {CHANGED: Bar(audit)})


CASES = [_case(0.0, ""), _case(-0.01, ""), _case(-0.02, "up to 10.2 (26 of 256 real pools)"), _case(-0.03, "")]
"""At a truth of about 1.3 standard errors the word is most easily changed."""
