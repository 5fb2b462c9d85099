"""`gonn list` and `gonn show`: what can be compared, on what, and what the documents claim."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of
from ablations.coverage import load_coverage
from ablations.declarations import find
from ablations.registry import load_registry
from ablations.schema import Enhancement
from ablations.wording import claim_text, conditions_text, main_claim, value_text
from orchestration.console import output

NARROW = 110
"""Columns of a terminal below which a list has its claims under its titles, and no bases."""


def print_list(system: str | None) -> None:
    """All enhancements, or one system's, system by system. Raises SettingError (SYSTEM)."""
    registry = load_registry()
    console = output()
    cards = registry.cards_of(system) if system else list(registry.cards.values())
    for each in sorted({card.system for card in cards}):
        of_system = [card for card in cards if card.system == each]
        console.print(Text(f"{each} ({len(of_system)})", style="bold"))
        console.print(_narrow(of_system) if console.width < NARROW else _wide(of_system))
    console.print(f"{len(cards)} enhancements in all. `gonn show ID` tells more, `make ablation NAME=ID` measures.")


def _wide(cards: Sequence[Enhancement]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("enhancement")
    table.add_column("first claim")
    table.add_column("base", no_wrap=True)
    for card in cards:
        table.add_row(card.id, card.title, main_claim(card), card.base)
    return table


def _narrow(cards: Sequence[Enhancement]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(overflow="fold")
    table.add_column()
    for card in cards:
        table.add_row(card.id, f"{card.title}\n({main_claim(card)})")
    return table


def print_bases() -> None:
    """All base nets."""
    registry = load_registry()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("net")
    table.add_column("published parameters", justify="right")
    table.add_column("enhancements to compare", justify="right")
    fitting = Counter(base for card in registry.cards.values() for base in bases_of(registry, card))
    for base in registry.bases.values():
        names = ", ".join([base.id, *base.also_called])
        table.add_row(
            names, base.title, f"{base.parameters:,}" if base.parameters else "not told", str(fitting[base.id])
        )
    output().print(table)
    output().print(f"{len(registry.bases)} base nets: BASE=ID of `make ablation`.")


def check_declarations() -> None:
    """Read and check all of them. Raises InputError or SettingError at the first bad one."""
    from ablations.data.declared import read_declarations

    registry = load_registry()
    registry.check()
    documents = load_coverage()
    for name, document in documents.items():
        for section in document.sections:
            for card in section.cards:
                find(registry.cards, f"documents/{name}.yaml.{section.heading}", card, "no such enhancement")
    sets = read_declarations()
    output().print(
        f"{len(registry.cards)} enhancements, {len(registry.bases)} bases, {len(registry.budgets)} budgets, "
        f"{len(sets)} data sets, {len(documents)} documents: all can be read and fit each other."
    )


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
        settings.add_row(path, value_text(toggle.off), value_text(toggle.on))
    console.print(settings)
    for base, form in card.forms.items():
        console.print(
            f"on {base}: "
            + ", ".join(f"{path} {value_text(toggle.off)} -> {value_text(toggle.on)}" for path, toggle in form.items())
        )
    others = ", ".join(base for base in bases_of(registry, card) if base != card.base) or "no other"
    console.print(f"base {card.base}; also on {others}; pairing {card.pairing.replace('_', ' ')}")
    for verb, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            console.print(f"{verb} {condition.card or f'{condition.path} = {condition.value}'}")
    if card.moves_best_rate:
        console.print("moves the best learning rate: compare at each arm's own rate too")
    console.print()
    claims = Table("claim", "made on", "where", "evidence", box=box.SIMPLE_HEAD, pad_edge=False)
    for claim in card.claims:
        claims.add_row(
            claim_text(claim) + (f" ({claim.note})" if claim.note else ""),
            conditions_text(claim),
            f"{claim.document}: {claim.section}",
            claim.evidence.replace("_", " "),
        )
    console.print(claims)
