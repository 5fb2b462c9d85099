"""`gonn list`: enhancements by topic, what was measured here beside each; bases."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of
from ablations.catalogue.lookup import matching, suggestions
from ablations.catalogue.topics import TOPICS, by_topic, topic_of
from ablations.registry import Registry, load_registry
from ablations.schema import Enhancement
from ablations.wording import main_claim
from gonn_core.errors import SettingError
from orchestration.catalogue.measured import Reported, last_reported
from orchestration.console import notes, output, print_table
from reports.workspace import Workspace

NARROW = 130
"""Columns of a terminal below which a list has claims and results under titles, and no bases."""
Measured = Mapping[str, Reported]


def print_list(words: Sequence[str], topic: str | None = None, find: str | None = None) -> None:
    """The enhancements of a topic that have all the words, topic by topic; all of them without any.

    A word in `words` that is a topic or a system chooses that; every other, and all of `find`, is looked for. Raises
    SettingError (TOPIC, FIND).
    """
    registry = load_registry()
    cards = chosen(registry, words, topic, find)
    measured, unreadable = last_reported(Workspace.here())
    console = output()
    for each, those in by_topic(cards).items():
        console.print(Text.assemble((each, "bold"), f" ({len(those)}): {TOPICS[each]}"))
        print_table(console, _narrow(those, measured) if console.width < NARROW else _wide(those, measured))
        console.print()
    console.print(_last_line(registry, cards, measured), soft_wrap=console.width >= NARROW)
    if unreadable:
        what = "a report" if unreadable == 1 else f"{unreadable} reports"
        notes().print(f"{what} could not be read: make report makes all of them again")


def chosen(registry: Registry, words: Sequence[str], topic: str | None, find: str | None) -> list[Enhancement]:
    """The cards that a list shows."""
    cards = list(registry.cards.values())
    systems = {card.system for card in cards}
    looked_for = [find] if find else []
    if topic and topic not in TOPICS:
        raise SettingError("TOPIC", topic, "no such topic", list(TOPICS))
    for word in [topic, *words] if topic else words:
        if word in TOPICS:
            cards = [card for card in cards if topic_of(card) == word]
        elif word in systems:
            cards = [card for card in cards if card.system == word]
        else:
            looked_for.append(word)
    if not looked_for:
        return cards
    text = " ".join(looked_for)
    found = matching(cards, text)
    if not found:
        near = suggestions(registry, text)
        valid = f"other words; nearest: {', '.join(near)}" if near else "other words"
        among = f"no enhancement {'' if len(cards) == len(registry.cards) else 'of these '}has"
        raise SettingError("FIND", text, f"{among} it in name, title, summary or settings", valid)
    return found


def _last_line(registry: Registry, cards: Sequence[Enhancement], measured: Measured) -> str:
    count = len(cards) if len(cards) == len(registry.cards) else f"{len(cards)} of {len(registry.cards)}"
    here = sum(card.id in measured for card in cards)
    of_here = f", {here} measured here: Δ nats with it minus without, less is better" if here else ""
    return f"{count} enhancements{of_here}. `make show NAME=ID` tells more, `make ablation NAME=ID` measures."


def _wide(cards: Sequence[Enhancement], measured: Measured) -> Table:
    any_here = any(card.id in measured for card in cards)
    any_claim = any(card.claims for card in cards)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("enhancement")
    table.add_column("base", no_wrap=True)
    if any_claim:
        table.add_column("leading claim")
    if any_here:
        table.add_column("Δ nats measured here")
        table.add_column("on")
    for card in cards:
        row = [card.id, card.title, card.base] + [main_claim(card) if card.claims else "–"] * any_claim
        if any_here:
            effect = measured.get(card.id)
            row += [effect.text, effect.where] if effect else ["", ""]
        table.add_row(*row)
    return table


def _narrow(cards: Sequence[Enhancement], measured: Measured) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(overflow="fold")
    table.add_column()
    for card in cards:
        lines = [card.title]
        if card.claims:
            lines.append(f"claimed: {main_claim(card)}")
        if card.id in measured:
            effect = measured[card.id]
            lines.append(f"here: {effect.text} ({effect.where})")
        table.add_row(card.id, "\n".join(lines))
    return table


def print_bases() -> None:
    """All base nets."""
    registry, console = load_registry(), output()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("net")
    table.add_column("parameters", justify="right")
    table.add_column("cards", justify="right")
    fitting = Counter(base for card in registry.cards.values() for base in bases_of(registry, card))
    for base in registry.bases.values():
        names = ", ".join([base.id, *base.also_called])
        table.add_row(
            names, base.title, f"{base.parameters:,}" if base.parameters else "not told", str(fitting[base.id])
        )
    print_table(console, table)
    told = "parameters as published; cards: enhancements that can be compared on it"
    console.print(f"{len(registry.bases)} base nets: BASE=ID of `make ablation`; {told}.")
