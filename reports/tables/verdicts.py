"""Verdicts on effects in words: what is not shown is told with what it is smaller than."""

import math

from gonn_core.metrics import METRICS
from reports.stats.estimates import Effect
from reports.stats.verdicts import EffectVerdict
from reports.tables.cells import Column

BOUND = Column("bound", "smaller than", printed=False)
"""The number of that text, in CSV."""


def verdict_text(verdict: EffectVerdict, effect: Effect, metric: str = "nats", level: float = 0.90) -> str:
    """`helps`; `not shown: smaller than 0.018 nats (90 %)`. level: of the interval that the bound is the end of."""
    bound = verdict_bound(verdict, effect)
    if bound is None:
        return str(verdict)
    return f"{verdict}: smaller than {bound_text(bound, metric)} ({100 * level:g} %)"


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


def unshown(verdict: EffectVerdict) -> bool:
    """Whether the effect was judged, and no direction found."""
    return verdict in (EffectVerdict.NOT_SHOWN, EffectVerdict.NO_EFFECT)


def leaves_out_zero(effect: Effect) -> bool:
    """Whether the 95 % interval of the effect by itself does not hold 0."""
    interval = effect.interval95
    return interval is not None and (interval.low > 0 or interval.high < 0)
