"""Verdicts on effects: does it help? Verdicts on claims are in `reports.claims.verdicts`."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Literal, Self, TypeVar

from ablations.study import Thresholds
from gonn_core.metrics import Better
from reports.stats.estimates import Effect

Direction = Literal["decrease", "increase", "no_change"]
Key = TypeVar("Key", bound=Hashable)

Tone = Literal["good", "bad", "good-lean", "bad-lean", "open", "plain"]


class Verdict(StrEnum):
    """A verdict in words, with its colour on pages and its plural. Pages count verdicts in the order of the members."""

    tone: Tone
    plural: str

    def __new__(cls, word: str, tone: Tone = "plain", plural: str = "") -> Self:
        verdict = str.__new__(cls, word)
        verdict._value_ = word
        verdict.tone, verdict.plural = tone, plural or word
        return verdict

    @property
    def rank(self) -> int:
        """Place among the verdicts of its kind."""
        return list(type(self)).index(self)


class EffectVerdict(Verdict):
    HELPS = "helps", "good", "help"
    HURTS = "hurts", "bad", "hurt"
    LEANS_HELPING = "leans to helping", "good-lean", "lean to helping"
    LEANS_HURTING = "leans to hurting", "bad-lean", "lean to hurting"
    NOT_SHOWN = "not shown"
    UNDERPOWERED = "underpowered", "open"
    UNFINISHED = "unfinished", "open"
    NOT_A_RESULT = "not a result", "open"
    NO_RESULT = "no result yet", "open"

    @property
    def is_shown(self) -> bool:
        """Whether the effect is significant: q at most alpha."""
        return self.tone in ("good", "bad")

    @property
    def leans(self) -> bool:
        """Whether only the effect's own interval excludes 0."""
        return self.tone in ("good-lean", "bad-lean")


def counted(verdicts: Iterable[Verdict]) -> str:
    """`2 help, 7 not shown`."""
    counts = Counter(verdicts)
    return ", ".join(
        f"{counts[verdict]} {verdict if counts[verdict] == 1 else verdict.plural}"
        for verdict in sorted(counts, key=lambda verdict: verdict.rank)
    )


def with_q(effects: Mapping[Key, Effect], thresholds: Thresholds) -> dict[Key, Effect]:
    """The effects of a page on one metric with their q: Benjamini and Hochberg's (1995), over all that have a p and
    enough runs. Of the effects with q at most alpha, a share of at most alpha is expected to be null or of the other
    sign."""
    judged = [key for key, effect in effects.items() if effect.p is not None and effect.n >= thresholds.min_seeds]
    found = dict(zip(judged, discovery_rates([float(effects[key].p or 0.0) for key in judged]), strict=True))
    return {key: replace(effect, q=found.get(key)) for key, effect in effects.items()}


def discovery_rates(p: Sequence[float]) -> list[float]:
    """q of each p: the false discovery rate at which it is the last to be shown (Benjamini and Hochberg 1995)."""
    # Not scipy.stats: its import takes a second of every command.
    rates, least, count = [1.0] * len(p), 1.0, len(p)
    for rank, index in zip(range(count, 0, -1), sorted(range(count), key=p.__getitem__, reverse=True), strict=True):
        rates[index] = least = min(least, p[index] * (count / rank))
    return rates


def judge_effect(effect: Effect, better: Better, thresholds: Thresholds) -> EffectVerdict:
    """The verdict in a table: helps or hurts where q is at most alpha; leaning where the interval leaves out 0 all the
    same."""
    if effect.q is None:
        return EffectVerdict.UNDERPOWERED
    helps = (effect.delta < 0) == (better == "lower")
    if effect.q <= thresholds.alpha and effect.delta != 0:
        return EffectVerdict.HELPS if helps else EffectVerdict.HURTS
    if effect.leaves_out_zero:
        return EffectVerdict.LEANS_HELPING if helps else EffectVerdict.LEANS_HURTING
    return EffectVerdict.NOT_SHOWN


def measured_direction(effect: Effect, margin: float, thresholds: Thresholds) -> Direction | None:
    """How the metric moved: increase or decrease where q is at most alpha; else no_change where the 90 % interval lies
    within ±margin; else None, not settled. Always None for an effect that is not judged."""
    if effect.q is None or effect.interval90 is None or effect.n < thresholds.min_seeds:
        return None
    if effect.q <= thresholds.alpha and effect.delta != 0:
        return "increase" if effect.delta > 0 else "decrease"
    return "no_change" if effect.interval90.within(margin) else None
