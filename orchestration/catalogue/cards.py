"""`gonn show` and `gonn check`: one enhancement in full; all declarations beside each other."""

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of
from ablations.coverage import load_coverage
from ablations.declarations import find
from ablations.registry import load_registry
from ablations.wording import claim_text, conditions_text, value_text
from orchestration.console import output


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
