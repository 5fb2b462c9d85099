"""`gonn list` and `gonn show`: enhancements by topic, with what was measured; bases; one enhancement in full."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of, misfit
from ablations.coverage import load_coverage, sections_of
from ablations.declarations import FOLDER
from ablations.registry import TOPICS, Registry, by_topic, load_registry, matching, suggestions, topic_of
from ablations.schema import Enhancement, budget_label
from ablations.wording import claim_text, conditions_text, replication_text, value_text, withdrawn_text
from gonn_core.errors import SettingError, UserError, printable
from gonn_core.files.json_files import read_json
from orchestration.console import notes, output
from reports.workspace import Workspace

NARROW = 130
"""Columns of a terminal below which a list has results under titles, and no bases."""
BUDGET, DATA = "cpu", "kgs"
COMMITTED = FOLDER.parent / "results" / f"{DATA}-{BUDGET}" / "summary.csv"
"""The effects that come with the repository."""


@dataclass(frozen=True)
class Reported:
    """The effect of an enhancement on the loss, by all runs of its base."""

    delta: float
    """Nats with it minus nats without it."""
    verdict: str
    bound: float | None
    """Nats that an effect which is not shown is smaller than."""
    q: float | None
    where: str
    """Base, budget and data of the study."""

    @property
    def text(self) -> str:
        """`−0.3969 helps (q 0.0001)`, `−0.0051 not shown: below 0.020 nats`."""
        from reports.tables.formats import (  # with scipy, which a list without results does not need
            bound_text,
            q_value,
            signed,
        )

        text = f"{signed(self.delta)} {self.verdict}"
        if self.bound is not None:
            return f"{text}: below {bound_text(self.bound)}"
        return text if self.q is None else f"{text} (q {q_value(self.q)})"


Measured = Mapping[str, Reported]


def print_list(words: Sequence[str], topic: str | None = None, find: str | None = None) -> None:
    """The enhancements of a topic that have all the words, topic by topic; all of them without any.

    A word in `words` that is a topic or a system chooses that; every other, and all of `find`, is looked for. Raises
    SettingError (TOPIC, FIND).
    """
    registry = load_registry()
    cards = chosen(registry, words, topic, find)
    reported, unreadable = last_reported(Workspace.here())
    measured = committed(registry.cards) | reported
    console = output()
    for each, those in by_topic(cards).items():
        console.print(Text.assemble((each, "bold"), f" ({len(those)}): {TOPICS[each]}"))
        console.print(_narrow(those, measured) if console.width < NARROW else _wide(those, measured))
        console.print()
    count = len(cards) if len(cards) == len(registry.cards) else f"{len(cards)} of {len(registry.cards)}"
    known = sum(card.id in measured for card in cards)
    of_known = f", {known} measured: Δ nats with it minus without, less is better" if known else ""
    line = f"{count} enhancements{of_known}. `make show NAME=ID` tells more, `make ablation NAME=ID` measures."
    console.print(line, soft_wrap=console.width >= NARROW)
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


def _wide(cards: Sequence[Enhancement], measured: Measured) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("enhancement")
    table.add_column("base", no_wrap=True)
    table.add_column("Δ nats measured")
    table.add_column("on")
    for card in cards:
        effect = measured.get(card.id)
        table.add_row(card.id, card.title, card.base, *([effect.text, effect.where] if effect else ["", ""]))
    return table


def _narrow(cards: Sequence[Enhancement], measured: Measured) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(overflow="fold")
    table.add_column()
    for card in cards:
        lines = [card.title]
        if card.id in measured:
            effect = measured[card.id]
            lines.append(f"measured: {effect.text} ({effect.where})")
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
        table.add_row(names, base.title, f"{base.parameters:,}" if base.parameters else "–", str(fitting[base.id]))
    console.print(table)
    columns = "parameters as published; cards: enhancements that can be compared on it"
    console.print(f"{len(registry.bases)} base nets: BASE=ID of `make ablation`; {columns}.")


def committed(cards: Mapping[str, Enhancement]) -> dict[str, Reported]:
    """Card of these -> its effect on the page in `COMMITTED`, at the card's own base where it is; none without a
    checkout."""
    if not COMMITTED.is_file():
        return {}
    with COMMITTED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["card"] in cards and row["verdict"] != "unfinished"]
    rows.sort(key=lambda row: row["base"] == cards[row["card"]].base)  # last, which is kept
    found = {}
    for row in rows:
        effect = {key: row[key] or None for key in ("delta", "verdict", "q", "bound")}
        if row["verdict"] != "not shown":  # the table has a bound of every effect
            effect["bound"] = None
        where = {"base": row["base"], "budget": BUDGET, "data": f"{DATA}, committed"}
        if (reported := _reported(where, effect, "")) is not None:
            found[row["card"]] = reported
    return found


def last_reported(workspace: Workspace) -> tuple[dict[str, Reported], int]:
    """Card -> its effect in the latest study that has a report and is still there, a finished one with results before
    others; and how many reports could not be read."""
    found: dict[str, tuple[tuple, Reported]] = {}
    bad = 0
    for path in sorted(workspace.out.glob("*/report.json")):
        if not (workspace.studies / path.parent.name / "study.json").is_file():
            continue
        try:
            tree = read_json(path)
            study, (done, trials), effects = tree["study"], tree["done"], tree["tables"].get("effects", {})
            rank = study["results"], done == trials, str(study["created"])
            so_far = "" if done == trials else f" {done}/{trials}"
            read = {card: _reported(study, row, so_far) for card, row in effects.items()}
        except (UserError, AttributeError, KeyError, TypeError, ValueError):
            bad += 1
            continue
        for card, effect in read.items():
            if effect is not None and (card not in found or found[card][0] <= rank):
                found[card] = rank, effect
    return {card: effect for card, (_, effect) in found.items()}, bad


def _reported(study: Mapping, row: Mapping, so_far: str) -> Reported | None:
    """The effect in a row of a report's table; None where there is no number yet."""
    if row.get("delta") is None:
        return None
    budget = budget_label(study["budget"], study.get("precision"))
    where = " ".join(printable(str(name), 40) for name in (study["base"], budget, study["data"]))
    bound, q = (None if row.get(key) is None else float(row[key]) for key in ("bound", "q"))
    return Reported(float(row["delta"]), printable(f"{row['verdict']}{so_far}"), bound, q, where)


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
    console.print()
    for base, form in card.forms.items():
        console.print(
            f"on {base}: "
            + ", ".join(f"{path} {value_text(toggle.off)} -> {value_text(toggle.on)}" for path, toggle in form.items())
        )
    for line in _details(registry, card):
        console.print(line)
    console.print()
    if not card.claims:
        console.print("no claims: its card names no number and no direction that a document gives")
        return
    claims = Table("claim", "made on", "where", "evidence", box=box.SIMPLE_HEAD, pad_edge=False)
    for claim in card.claims:
        claims.add_row(
            claim_text(claim) + withdrawn_text(claim) + (f" ({claim.note})" if claim.note else ""),
            conditions_text(claim),
            f"{claim.document}: {claim.section}",
            claim.evidence.replace("_", " "),
        )
    console.print(claims)


def _details(registry: Registry, card: Enhancement) -> Iterator[str]:
    """What else there is to know of a card, after its settings and claims."""
    others = ", ".join(base for base in bases_of(registry, card) if base != card.base) or "no other"
    yield f"base {card.base}; also on {others}; pairing {card.pairing.replace('_', ' ')}"
    yield from (f"not on {bases}: {problem}" for problem, bases in _relatives_without(registry, card).items())
    for verb, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            yield f"{verb} {condition.card or f'{condition.path} = {condition.value}'}"
    if card.moves_best_rate:
        yield "moves the best learning rate: compare at each arm's own rate too"
    sections = "; ".join(
        f"{document}, {heading.rstrip(':')}" for document, heading in sections_of(load_coverage(), card.id)
    )
    yield f"topic {topic_of(card)}; described in {sections or 'no document'}"
    yield from (f"tried elsewhere: {replication_text(each)}" for each in card.replications)
    measured = committed(registry.cards) | last_reported(Workspace.here())[0]
    if card.id in measured:
        yield f"measured: Δ {measured[card.id].text} ({measured[card.id].where})"


def _relatives_without(registry: Registry, card: Enhancement) -> dict[str, str]:
    """Why it cannot be compared on other bases of its own system -> those bases."""
    found: dict[str, list[str]] = {}
    for base in registry.bases.values():
        if base.system == card.system and (problem := misfit(registry, card, base)) is not None:
            found.setdefault(problem, []).append(base.id)
    return {problem: ", ".join(bases) for problem, bases in found.items()}
