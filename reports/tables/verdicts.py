"""Verdicts on effects in words, with their q, or with the upper limit of what is not shown."""

import math

from gonn_core.metrics import METRICS
from reports.stats.estimates import Effect
from reports.stats.verdicts import EffectVerdict
from reports.tables.formats import q_value


def verdict_text(verdict: EffectVerdict, effect: Effect, metric: str = "nats") -> str:
    """`helps (q 0.003)`, `leans to helping (q 0.07)`, `not shown: smaller than 0.018 nats (90 %)`."""
    if verdict.is_shown or verdict.leans:
        return f"{verdict} (q {q_value(effect.q)})"
    if verdict is EffectVerdict.NOT_SHOWN and effect.bound is not None:
        return f"{verdict}: smaller than {bound_text(effect.bound, metric)} (90 %)"
    return str(verdict)


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
