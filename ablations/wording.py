"""Claims and values of declarations in words, for lists and tables."""

from collections.abc import Iterable

from ablations.schema import Claim, Replication
from gonn_core.metrics import METRICS

SYSTEMS = {
    "gonn": "GoNN",
    "go_nn": "go-NN",
    "clark_storkey": "Clark & Storkey",
    "lczero": "lczero fork",
    "cazenave": "Cazenave",
    "later": "Later ideas",
}
"""Systems in the order of pages, with their names there."""


def claim_text(claim: Claim) -> str:
    """A claim's number in words: `-0.025 nats at 5M`."""
    metric = METRICS[claim.metric]
    name = claim.statistic or claim.metric
    if claim.probe:
        position = f"{claim.probe.position} - {claim.probe.minus}" if claim.probe.minus else claim.probe.position
        name = f"{position} {claim.probe.move}"
    text = _number_text(claim)
    unit = metric.claim_unit
    a_level = claim.quantity != "difference" and not (claim.probe and claim.probe.minus)
    if metric.unit == "share" and (text is None or a_level):
        unit = "" if text is None else " %"  # points are of differences
    if text is None:
        text = {"decrease": "lower", "increase": "higher", "no_change": "no change of"}[claim.direction]
        unit = unit or ("" if metric.unit == "share" else " " + claim.metric.replace("_", " "))
    if metric.unit == "share" or not unit:
        unit += f" {name.replace('_', ' ')}"
    unit += {"difference": "", "on": " with it", "off": " without it"}[claim.quantity]
    unit += {"full": "", "as_published": " as published", "none": " without history"}[claim.history]
    return text + unit + (f" at {claim.samples / 1e6:g}M" if claim.samples else "")


def conditions_text(claim: Claim) -> str:
    """What a claim was made on: base, further settings, planes, games, samples or stage."""
    stages = {"finished": "a finished net", "early": "early in training", "unknown": "samples not stated"}
    parts = [
        claim.base or "another net",
        *(f"{path} {setting_text(value)}" for path, value in claim.conditions.items()),
        f"{claim.planes} planes" if claim.planes else "",
        {"any": "", "not stated": "games not stated"}.get(claim.data, claim.data),
        f"{claim.samples / 1e6:g}M samples" if claim.samples else "",
        f"from {claim.samples_from / 1e6:g}M samples on" if claim.samples_from else "",
        f"mean of the last {claim.window:,} samples" if claim.window else "",
        stages.get(claim.stage or "", ""),
    ]
    return ", ".join(filter(None, parts))


def withdrawn_text(claim: Claim) -> str:
    """What follows a claim that its author took back."""
    return f" [withdrawn by its author in {claim.withdrawn_in}]" if claim.withdrawn_in else ""


def replication_text(replication: Replication) -> str:
    """`tensorflow/minigo#416 (10x128, 4 runs an arm): nothing but noise`."""
    runs = replication.runs
    many = "runs not stated" if runs is None else f"{runs} run{'s' * (runs > 1)} an arm"
    return f"{replication.source} ({replication.net}; {many}): {replication.outcome}"


def _number_text(claim: Claim) -> str | None:
    """The claimed number or range; None for a mere direction."""
    metric = METRICS[claim.metric]
    sign = "+" if claim.quantity == "difference" and metric.unit != "ratio" else ""

    def number(value: float) -> str:
        if metric.unit == "count":
            return f"{value:{sign},.0f}"
        return f"{100 * value:{sign}.3g}" if metric.unit == "share" else f"{value:{sign}.4g}"

    if claim.value is not None:
        return number(claim.value)
    if claim.range is None:
        return None
    low, high = (None if end is None else number(end) for end in claim.range)
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


def is_on_an_effect(claim: Claim) -> bool:
    """Whether it is about an effect of training, not a count or a speed."""
    return METRICS[claim.metric].source not in ("net", "speed")


def leading_claim(claims: Iterable[Claim]) -> Claim | None:
    """The main statement of a card's claims: the first about an effect of training. Counts and speeds come after
    effects, memory after what can be read, and what is said of one arm alone after differences."""

    def lightness(claim: Claim) -> tuple[bool, ...]:
        return not is_on_an_effect(claim), claim.evidence == "unverified_memory", claim.quantity != "difference"

    return min(claims, key=lightness, default=None)


def value_text(value) -> str:
    """A value of a setting as text, as it stands in YAML; lists without their outer brackets."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def setting_text(value) -> str:
    """A value of a setting in a sentence: tuples with slashes."""
    return "none" if value == () else "/".join(map(setting_text, value)) if isinstance(value, tuple) else str(value)
