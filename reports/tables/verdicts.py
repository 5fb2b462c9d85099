"""Verdicts on effects in words: with their q, and what is not shown with what it is smaller than."""

import math
import re

from gonn_core.metrics import METRICS
from reports.stats.estimates import Effect
from reports.stats.verdicts import LEANING, SHOWN, EffectVerdict
from reports.tables.cells import Column
from reports.tables.formats import q_value

BOUND = Column("bound", "smaller than", printed=False)
"""The number of that text, in CSV."""


def verdict_text(verdict: EffectVerdict, effect: Effect, metric: str = "nats") -> str:
    """`helps (q 0.003)`, `leans to helping (q 0.07)`, `not shown: smaller than 0.018 nats (90 %)`."""
    if verdict in (*SHOWN, *LEANING):
        return f"{verdict} (q {q_value(effect.q)})"
    bound = verdict_bound(verdict, effect)
    return str(verdict) if bound is None else f"{verdict}: smaller than {bound_text(bound, metric)} (90 %)"


def verdict_word(text: str) -> str:
    """`helps` of `helps (q 0.003)`: the verdict alone."""
    return re.split(r"[:;]| \(", text)[0]


def verdict_bound(verdict: EffectVerdict, effect: Effect) -> float | None:
    """What an effect that is not shown is smaller than in size, in the metric's unit; None beside other verdicts."""
    return effect.bound if verdict is EffectVerdict.NOT_SHOWN else None


def bound_text(bound: float, metric: str = "nats") -> str:
    """`0.018 nats`, `1.3 points`: two digits, rounded up, so that it stays true."""
    share = METRICS[metric].unit == "share"
    value = 100 * bound if share else bound
    unit = METRICS[metric].claim_unit or f" {METRICS[metric].unit}"
    if not 0 < value < math.inf:
        return f"{value:g}{unit}"
    place = math.floor(math.log10(value)) - 1
    digits = math.ceil(round(value / 10.0**place, 6))
    if digits == 100:  # 0.0995 is 0.10
        digits, place = 10, place + 1
    return f"{digits * 10.0**place:.{max(0, -place)}f}{unit}"
