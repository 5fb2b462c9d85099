"""`gonn show` and `gonn check`: one enhancement in full; checks of all declarations together."""

from collections.abc import Iterator

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of, misfit
from ablations.coverage import check_documents, load_coverage, sections_of
from ablations.registry import Registry, load_registry, topic_of
from ablations.schema import Enhancement
from ablations.wording import claim_text, conditions_text, value_text
from orchestration.catalogue.listing import last_reported
from orchestration.console import output, print_table
from reports.workspace import Workspace


def check_declarations(slow: bool = False) -> int:
    """Read and check all declarations, and name the generated files that are out of date; 1 when there are some.

    slow: compare also those that take a minute. Raises InputError or SettingError at the first bad declaration.
    """
    from ablations.data.schema import read_declarations
    from orchestration.catalogue.generated import out_of_date

    registry = load_registry()
    registry.check()
    sets, documents = read_declarations(), load_coverage()
    check_documents(registry)
    output().print(
        f"{len(registry.cards)} enhancements, {len(registry.bases)} bases, {len(registry.budgets)} budgets, "
        f"{len(sets)} data sets, {len(documents)} documents: all are valid"
    )
    stale = out_of_date(registry, slow)
    if stale:
        output().print(f"out of date: {', '.join(stale)}; make remake writes them again")
    return 1 if stale else 0


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
    print_table(console, settings)
    console.print()
    for base, form in card.forms.items():
        console.print(
            f"on {base}: "
            + ", ".join(f"{path} {value_text(toggle.off)} -> {value_text(toggle.on)}" for path, toggle in form.items())
        )
    for line in _lines(registry, card):
        console.print(line)
    console.print()
    if not card.claims:
        console.print("no claims: its card names no number and no direction that a document gives")
        return
    claims = Table("claim", "made on", "where", "evidence", box=box.SIMPLE_HEAD, pad_edge=False)
    for claim in card.claims:
        claims.add_row(
            claim_text(claim) + (f" ({claim.note})" if claim.note else ""),
            conditions_text(claim),
            f"{claim.document}: {claim.section}",
            claim.evidence.replace("_", " "),
        )
    print_table(console, claims)


def _lines(registry: Registry, card: Enhancement) -> Iterator[str]:
    """What else there is to know of a card, after its settings and claims."""
    others = ", ".join(base for base in bases_of(registry, card) if base != card.base) or "no other"
    yield f"base {card.base}; also on {others}; pairing {card.pairing.replace('_', ' ')}"
    yield from (f"not on {bases}: {problem}" for problem, bases in _relatives_without(registry, card).items())
    for verb, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            yield f"{verb} {condition.card or f'{condition.path} = {condition.value}'}"
    if card.moves_best_rate:
        yield "moves the best learning rate: compare at each arm's own rate too"
    sections = "; ".join(f"{document}, {heading}" for document, heading in sections_of(load_coverage(), card.id))
    yield f"topic {topic_of(card)}; described in {sections or 'no document'}"
    measured, _ = last_reported(Workspace.here())
    if card.id in measured:
        yield f"measured here: Δ {measured[card.id].text} ({measured[card.id].where})"


def _relatives_without(registry: Registry, card: Enhancement) -> dict[str, str]:
    """Why it cannot be compared on other bases of its own system -> those bases."""
    found: dict[str, list[str]] = {}
    for base in registry.bases.values():
        if base.system == card.system and (problem := misfit(registry, card, base)) is not None:
            found.setdefault(problem, []).append(base.id)
    return {problem: ", ".join(bases) for problem, bases in found.items()}
