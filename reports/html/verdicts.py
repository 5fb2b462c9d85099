"""Verdicts counted and coloured."""

from collections.abc import Iterable

from ablations.schema import Claim
from gonn_core.metrics import METRICS
from reports.summary.box import counted
from reports.tables.verdicts import verdict_word

_TONES = {
    "good": ("helps", "replicated", "consistent with the claim", "count agrees"),
    "bad": ("hurts", "contradicted", "count differs"),
    "good-lean": ("leans to helping",),
    "bad-lean": ("leans to hurting",),
    "open": ("no result yet", "not measured yet", "underpowered", "unfinished", "not a result"),
}


def tone(verdict: str) -> str:
    """`good`, `bad`, either with `-lean`, `open`, or `plain`: the colour that a verdict has, beside its text."""
    word = verdict_word(verdict)
    return next((name for name, words in _TONES.items() if word in words), "plain")


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
