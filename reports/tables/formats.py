"""How numbers and conditions are written in reports: nats with 4 decimals, differences with sign, shares in percent."""

import math
import re
from collections.abc import Iterable, Mapping

from ablations.study import EvaluationRef
from gonn_core.metrics import METRICS
from gonn_core.settings.data import HistoryMode
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import EffectVerdict

HISTORY: Mapping[HistoryMode, str] = {
    "full": "full history",
    "as_published": "history dropped as in the published test rows",
    "none": "no history",
}
NONE = "–"
"""Shown where there is no number."""


def in_short(coverage: str) -> str:
    """Without the list of what is missing."""
    return re.sub(r" \(missing [^()]*\)", "", coverage)


def describe(evaluation: EvaluationRef) -> str:
    """`test, 20,112 positions of 101 games, full history`."""
    return f"{evaluation.split}, {evaluation.size_text}, {HISTORY[evaluation.history]}"


def level(value: float, unit: str = "nats") -> str:
    """A metric itself: `2.5310`, `38.21 %`."""
    return f"{100 * value:.2f} %" if unit == "share" else f"{value:.4f}"


def signed(value: float, unit: str = "nats") -> str:
    """A difference: `−0.0123`, in per cent points `+1.23`."""
    text = f"{100 * value:+.2f}" if unit == "share" else f"{value:+.4f}"
    return minus(text)


def interval(ends: Interval | None, unit: str = "nats") -> str:
    """`[−0.0200, −0.0046]`."""
    return NONE if ends is None else f"[{signed(ends.low, unit)}, {signed(ends.high, unit)}]"


def with_interval(value: float, ends: Interval | None, unit: str = "nats") -> str:
    """`−0.0123 [−0.0200, −0.0046]`."""
    return signed(value, unit) if ends is None else f"{signed(value, unit)} {interval(ends, unit)}"


def p_value(p: float | None) -> str:
    """`0.0123`, `<0.0001`, or none."""
    if p is None:
        return NONE
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def q_value(q: float | None) -> str:
    """`0.03`, two digits, three near 5 % so that 0.049 and 0.051 differ; `<0.0001`, or none."""
    if q is None:
        return NONE
    return "<0.0001" if q < 0.0001 else f"{q:.{3 if 0.045 <= q <= 0.055 else 2}g}"


def count(value: float) -> str:
    """`3,597,792`."""
    return f"{value:,}"


def signed_count(value: float) -> str:
    """`+2,144`, `0`."""
    return "0" if value == 0 else minus(f"{value:+,.0f}")


def operations(value: float) -> str:
    """`52.3 M`, `2.61 G`, three digits."""
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.0f}"


def ratio(value: float | None) -> str:
    """`× 0.97`."""
    return NONE if value is None else f"× {factor(value)}"


def factor(value: float) -> str:
    """`0.97`, three digits where that is more or less than they tell."""
    return f"{value:.2f}" if 0.1 <= value < 10 else f"{value:.3g}"


def samples(value: int) -> str:
    """`100k`, `2.5M`, else with thousands separators."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size and value % (size // 10) == 0:
            return f"{value / size:g}{letter}"
    return count(value)


def about(number: int) -> str:
    """`25k` of 24,992: a number of samples in three digits."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return str(number)


def seeds(finished: Iterable[int], planned: int | None = None) -> str:
    """`1-4`, `1, 2, 7`; with fewer than planned `1-3 (3 of 4)`."""
    numbers = sorted(finished)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    text = ", ".join(parts) or NONE
    return text if planned is None or planned == len(numbers) else f"{text} ({len(numbers)} of {planned})"


def seed_count(finished: int, planned: int) -> str:
    """`4`, or `3 of 4`."""
    return str(finished) if finished == planned else f"{finished} of {planned}"


def minus(text: str) -> str:
    """`text` with the sign of minus in place of the hyphen; a zero that was rounded has no sign of its own."""
    zero = not any(digit in text for digit in "123456789")
    return text.replace("-", "").replace("+", "") if zero else text.replace("-", "−")


def verdict_text(verdict: EffectVerdict, effect: Effect, metric: str = "nats") -> str:
    """`helps (q 0.003)`, `leans to helping (q 0.07)`, `not shown: smaller than 0.018 nats (90 %)`."""
    if verdict.is_shown or verdict.leans:
        return f"{verdict} (q {q_value(effect.q)})"
    if verdict is EffectVerdict.NOT_SHOWN and effect.bound is not None:
        return f"{verdict}: smaller than {bound_text(effect.bound, metric)} (90 %)"
    return str(verdict)


def bound_text(bound: float, metric: str = "nats") -> str:
    """`0.018 nats`, `1.3 points`: two digits, rounded up, so that it stays true."""
    value = 100 * bound if METRICS[metric].unit == "share" else bound
    unit = METRICS[metric].claim_unit or f" {METRICS[metric].unit}"
    if not 0 < value < math.inf:
        return f"{value:g}{unit}"
    place = math.floor(math.log10(value)) - 1
    digits = math.ceil(round(value / 10.0**place, 6))
    if digits == 100:  # 0.0995 is 0.10
        digits, place = 10, place + 1
    return f"{digits * 10.0**place:.{max(0, -place)}f}{unit}"
