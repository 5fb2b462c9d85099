"""`gonn list` and `gonn show`: what can be compared, and what the documents claim."""

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of
from ablations.registry import load_registry
from ablations.schema import Claim, Enhancement
from orchestration.console import output

_PERCENT = ("top1", "top4", "probability", "win_rate", "probe")
_UNITS = {"nats": " nats", "train_nats": " train nats", "parameters": " parameters", "rank": " places", "samples_per_s_ratio": " x samples/s"}


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
        text = f"{number(low)} to {number(high)}" if None not in (low, high) else f"at most {number(high)}" if low is None else f"at least {number(low)}"
    else:
        text = {"decrease": "lower", "increase": "higher", "no_change": "no change of"}[claim.direction]
        unit = unit or " " + claim.metric.replace("_", " ")
    name = claim.statistic or (f"{claim.probe.position} {claim.probe.move}" if claim.probe else claim.metric)
    what = unit or f" {name.replace('_', ' ')}"
    if claim.metric in _PERCENT:
        what = f"{unit} {name.replace('_', ' ')}"
    return f"{text}{what}" + (f" at {claim.samples / 1e6:g}M" if claim.samples else "")


def main_claim(card: Enhancement) -> str:
    """The claim that a list shows: on loss or accuracy with a number, else on those without, else any other, parameters last."""

    def unlike(claim: Claim) -> tuple:
        return claim.metric == "parameters", claim.metric not in ("nats", "top1", "top4", "rank", "probability"), claim.bounds is None

    if not card.claims:
        return "none"
    shown = min(card.claims, key=unlike)
    return claimed(shown) + (" (unverified)" if shown.evidence == "unverified_memory" else "")


def print_list(system: str | None) -> None:
    """A table of all enhancements, or of one system's. Raises SettingError (SYSTEM)."""
    registry = load_registry()
    cards = registry.cards_of(system) if system else list(registry.cards.values())
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, options in (("id", {"no_wrap": True}), ("enhancement", {}), ("system", {}), ("first claim", {}), ("base", {"no_wrap": True})):
        table.add_column(heading, **options)
    for card in cards:
        table.add_row(card.id, card.title, card.system, main_claim(card), card.base)
    output().print(table)
    output().print(f"{len(cards)} enhancements. `gonn show ID` tells more, `make ablation NAME=ID` measures.")


def print_card(name: str) -> None:
    """One card in full. Raises SettingError (NAME)."""
    registry = load_registry()
    card = registry.card(name)
    console = output()
    console.print(Text(f"{card.id}: {card.title}", style="bold"))
    console.print(card.summary)
    console.print()
    settings = Table("setting", "off", "on", box=box.SIMPLE_HEAD, pad_edge=False)
    for path, toggle in card.toggles.items():
        settings.add_row(path, _value(toggle.off), _value(toggle.on))
    console.print(settings)
    for base, form in card.forms.items():
        console.print(f"on {base}: " + ", ".join(f"{path} {_value(toggle.off)} -> {_value(toggle.on)}" for path, toggle in form.items()))
    console.print(f"base {card.base}; also on {', '.join(base for base in bases_of(registry, card) if base != card.base) or 'no other'}; pairing {card.pairing.replace('_', ' ')}")
    for word, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            console.print(f"{word} {condition.card or f'{condition.path} = {condition.value}'}")
    if card.moves_best_rate:
        console.print("moves the best learning rate: compare at each arm's own rate too")
    console.print()
    claims = Table("claim", "made on", "where", "evidence", box=box.SIMPLE_HEAD, pad_edge=False)
    for claim in card.claims:
        claims.add_row(
            claimed(claim) + (f" ({claim.note})" if claim.note else ""),
            ", ".join(filter(None, [claim.base or "another net", claim.planes, claim.data])),
            f"{claim.document}: {claim.section}",
            claim.evidence.replace("_", " "),
        )
    console.print(claims)


def _value(value) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, (list, tuple)) else str(value)
