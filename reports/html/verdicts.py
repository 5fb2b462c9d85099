"""Verdicts counted and coloured."""

from collections import Counter
from collections.abc import Iterable

from ablations.schema import Claim
from gonn_core.metrics import METRICS

_TONES = {
    "good": ("helps", "replicated", "consistent with the claim", "count agrees"),
    "bad": ("hurts", "contradicted", "count differs"),
    "open": ("no result yet", "not measured yet", "underpowered"),
}
_MANY = {"helps": "help", "hurts": "hurt", "count agrees": "agree", "count differs": "differ"}
_ONE = {"count agrees": "agrees", "count differs": "differs"}
_FIRST = ("helps", "hurts", "replicated", "consistent with the claim")


def tone(verdict: str) -> str:
    """`good`, `bad`, `open`, or `plain`: the colour that a verdict has, beside its text."""
    word = verdict.partition(":")[0].partition(";")[0].strip()
    return next((name for name, words in _TONES.items() if word in words), "plain")


def counted(verdicts: Iterable[str]) -> str:
    """`2 help, 1 hurts, 7 not shown`."""
    counts = Counter(verdict.partition(":")[0] for verdict in verdicts)
    ordered = sorted(counts.items(), key=lambda each: (_rank(each[0]), -each[1], each[0]))
    return ", ".join(f"{n} {(_MANY if n > 1 else _ONE).get(word, word)}" for word, n in ordered)


def _rank(word: str) -> int:
    return _FIRST.index(word) if word in _FIRST else len(_FIRST)


def claims_counted(judged: Iterable[tuple[Claim, str]]) -> list[str]:
    """What became of claims on effects, and apart from them of what is merely counted; empty without claims."""
    effects: list[str] = []
    counts: list[str] = []
    for claim, verdict in judged:
        (counts if METRICS[claim.metric].source == "net" else effects).append(verdict)
    lines = []
    if effects:
        lines.append(f"{len(effects)} claim{'s' * (len(effects) != 1)} on effects: {counted(effects)}.")
    if counts:
        lines.append(f"Counts of parameters, which prove nothing of effects: {counted(counts)}.")
    return lines
