"""Claims and values of declarations in words, for lists and tables."""

from ablations.schema import Claim, Enhancement

_PERCENT = ("top1", "top4", "probability", "win_rate", "probe")
_UNITS = {
    "nats": " nats",
    "train_nats": " train nats",
    "parameters": " parameters",
    "rank": " places",
    "samples_per_s_ratio": " x samples/s",
}


def claimed(claim: Claim) -> str:
    """A claim's number in words: `-0.025 nats at 5M`."""
    scale, unit, digits = (100, " points", 3) if claim.metric in _PERCENT else (1, _UNITS.get(claim.metric, ""), 4)
    sign = "+" if claim.quantity == "difference" and claim.metric != "samples_per_s_ratio" else ""

    def number(value: float) -> str:
        return f"{value * scale:{sign},.0f}" if claim.metric == "parameters" else f"{value * scale:{sign}.{digits}g}"

    if claim.value is not None:
        text = number(claim.value)
    elif claim.range is not None:
        low, high = claim.range
        text = (
            f"{number(low)} to {number(high)}"
            if None not in (low, high)
            else f"at most {number(high)}"
            if low is None
            else f"at least {number(low)}"
        )
    else:
        text = {"decrease": "lower", "increase": "higher", "no_change": "no change of"}[claim.direction]
        unit = unit or " " + claim.metric.replace("_", " ")
    name = claim.statistic or (f"{claim.probe.position} {claim.probe.move}" if claim.probe else claim.metric)
    what = unit or f" {name.replace('_', ' ')}"
    if claim.metric in _PERCENT:
        what = f"{unit} {name.replace('_', ' ')}"
    return f"{text}{what}" + (f" at {claim.samples / 1e6:g}M" if claim.samples else "")


def main_claim(card: Enhancement) -> str:
    """The claim that a list shows: on loss or accuracy with a number, else on those without, else any other, parameters
    last."""

    def unlike(claim: Claim) -> tuple:
        return (
            claim.metric == "parameters",
            claim.metric not in ("nats", "top1", "top4", "rank", "probability"),
            claim.bounds is None,
        )

    if not card.claims:
        return "none"
    shown = min(card.claims, key=unlike)
    return claimed(shown) + (" (unverified)" if shown.evidence == "unverified_memory" else "")


def told(value) -> str:
    """A value of a setting as text, as it stands in YAML; lists without their outer brackets."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
