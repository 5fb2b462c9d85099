"""`gonn list`: enhancements by topic, with what was measured here; bases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table
from rich.text import Text

from ablations.arms import bases_of
from ablations.registry import TOPICS, Registry, by_topic, load_registry, matching, suggestions, topic_of
from ablations.schema import Enhancement, budget_label
from ablations.wording import main_claim
from gonn_core.errors import SettingError, UserError, printable
from gonn_core.files.json_files import read_json
from orchestration.console import notes, output, print_table
from reports.workspace import Workspace

NARROW = 130
"""Columns of a terminal below which a list has claims and results under titles, and no bases."""


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
        table.add_row(names, base.title, f"{base.parameters:,}" if base.parameters else "–", str(fitting[base.id]))
    print_table(console, table)
    columns = "parameters as published; cards: enhancements that can be compared on it"
    console.print(f"{len(registry.bases)} base nets: BASE=ID of `make ablation`; {columns}.")


def last_reported(workspace: Workspace) -> tuple[Mapping[str, Reported], int]:
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
