"""A new card's first text: valid from the start as far as it can be, the rest marked, and its place in its document."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ablations.conditions import card_state
from ablations.coverage import load_coverage, sections_of
from ablations.declarations import FOLDER, Declarations, find
from ablations.registry import Registry
from ablations.schema import Base, Enhancement
from ablations.strict_yaml import parse_yaml
from gonn_core.config import can_have, config_paths, nearest_paths, parse_model, with_values
from gonn_core.errors import InputError, SettingError
from gonn_core.files.whole import write_bytes

OPEN = "TO DO"
"""Begins what a draft leaves to its author."""
OURS = "(not in the document)"
"""Heading of a document's section for cards that no section of it describes."""
USUAL_BASE = "gonn-b5"

_CLAIMS = """\
# What its document claims, if it does, instead of `claims: []`; ablations/README.md tells more:
# claims:
#   - id: loss
#     metric: nats
#     direction: decrease
#     value: -0.01
#     samples: 5_000_000
#     base: {base}
#     games: any
#     data: the games in the document's words
#     document: {document}
#     section: {section}
#     evidence: stated
"""


def draft(
    declared: Declarations,
    name: str,
    system: str,
    title: str,
    toggles: Mapping[str, tuple[str, str]],
    summary: str | None = None,
    base: str | None = None,
) -> Enhancement:
    """A card without claims. toggles: path -> off and on value, as YAML.

    Raises SettingError for what cannot be: the id, a path, a value, a base that has it neither off nor on.
    """
    if name in declared.cards:
        raise SettingError("ID", name, "another card has this id", f"a new one; gonn show {name} shows that")
    values = {path: {"off": _value(off, "--off"), "on": _value(on, "--on")} for path, (off, on) in toggles.items()}
    for path in values:
        if path not in config_paths():
            raise SettingError("--setting", path, "no such setting", nearest_paths(path))
    if base is not None and base not in declared.bases:
        raise SettingError("BASE", base, "no such base", "gonn list --bases shows all")
    tree = {
        "id": name, "title": title, "system": system, "base": base or USUAL_BASE, "claims": [],
        "summary": summary or f"{OPEN}: what it does, in one sentence.",
        "toggles": values,
    }  # fmt: skip
    card = parse_model(Enhancement, tree, f"cards/{system}/{name}.yaml")
    chosen = _base_of(declared, card, [base] if base else _likely(declared, system))
    return card.model_copy(update={"base": chosen.id})


def _value(text: str, option: str):
    try:
        return parse_yaml(text, option)
    except InputError as error:
        raise SettingError(option, text, "not a YAML value", "such as relu, 3, true or [2, 3]") from error


def _likely(declared: Declarations, system: str) -> list[str]:
    """Bases in the order in which a draft tries them: its system's, the usual one first."""
    return sorted(declared.bases, key=lambda each: (declared.bases[each].system != system, each != USUAL_BASE, each))


def _base_of(declared: Declarations, card: Enhancement, names: Sequence[str]) -> Base:
    bases = [declared.bases[name] for name in names]
    for base in bases:
        if card_state(base.config, card.toggles) != "neither":
            return base
    for base in bases:  # one that could have both values stands at a third
        if all(can_have(base.config, card.values(state)) for state in ("off", "on")):
            path = next(iter(card.toggles))
            at = f"{base.id} has {path} = {_shown(base, path)}"
            raise SettingError(
                "BASE", base.id, f"stands neither at off nor at on ({at})", "another off value, or --base"
            )
    for state in ("off", "on"):
        with_values(bases[0].config, card.values(state), f"--{state}")
    raise SettingError("BASE", bases[0].id, "cannot have both values", "another base")


def _shown(base: Base, path: str) -> str:
    tree = base.config.model_dump(mode="json")
    for step in path.split("."):
        tree = tree[step]
    return _yaml(tree)


def card_text(card: Enhancement, document: str, section: str) -> str:
    """The YAML of a draft."""
    lines = [
        f"# A draft. What begins with {OPEN} is still to be written; `gonn check` names what was forgotten.",
        f"id: {card.id}",
        f"title: {_yaml(card.title)}",
        f"system: {card.system}",
        f"summary: {_yaml(card.summary)}",
        "toggles:",
        *(f"  {path}: {{off: {_yaml(each.off)}, on: {_yaml(each.on)}}}" for path, each in card.toggles.items()),
        f"base: {card.base}",
        "# What a base must have, and must not:",
        "# requires: [{path: net.family, value: gonn}]",
        "# excludes: [{card: another_card}]",
        "claims: []",
    ]
    claims = _CLAIMS.format(base=card.base, document=document, section=_yaml(section))
    return "\n".join(lines) + "\n" + claims


def _yaml(value) -> str:
    """A value on one line, plain where that reads back as it is."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z][\w .()/-]*", value) and not value.endswith(" ")
        return value if plain and parse_yaml(value, "") == value else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def write_draft(folder: Path, card: Enhancement, document: str, section: str) -> list[Path]:
    """Write the card and name it in its document; the files. Nothing is left where one of them cannot be.

    Raises SettingError (SECTION) for a section that is about something else.
    """
    listed = folder / "documents" / f"{document}.yaml"
    before = listed.read_text(encoding="utf-8")
    named = named_in(before, section, card.id)
    file = folder / "cards" / card.system / f"{card.id}.yaml"
    write_bytes(file, card_text(card, document, section).encode())
    try:
        write_bytes(listed, named.encode())
        if (document, section) not in sections_of(load_coverage(folder / "documents"), card.id):
            raise SettingError("SECTION", section, f"could not be added to in documents/{document}.yaml", "by hand")
    except BaseException:
        file.unlink()
        write_bytes(listed, before.encode())
        raise
    return [file, listed]


def named_in(text: str, section: str, card: str) -> str:
    """The text of a document's YAML with a card added to a section, or to a new one at the end."""
    lines = text.rstrip("\n").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("  - ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if parse_yaml("\n".join(lines[start:end]), "")[0].get("heading") != section:
            continue
        part = "\n".join(lines[start:end])
        if re.search(r"\bcards: \[", part):
            part = re.sub(r"(\bcards: \[[^\]]*)\]", rf"\1, {card}]", part, count=1)
        elif part.startswith("  - heading:"):
            part = part.replace("\n", f"\n    cards: [{card}]\n", 1) if "\n" in part else f"{part}\n    cards: [{card}]"
        elif ", without: {" in part:
            part = part.replace(", without: {", f", cards: [{card}], without: {{", 1)
        else:
            raise SettingError("SECTION", section, "is about something else, says the document's file", OURS)
        return "\n".join([*lines[:start], *part.split("\n"), *lines[end:]]) + "\n"
    return "\n".join([*lines, f"  - {{heading: {_yaml(section)}, cards: [{card}]}}"]) + "\n"


def check_written(registry: Registry, folder: Path = FOLDER) -> None:
    """Every card must have its summary and its place in a document. Raises SettingError for the first that lacks
    one."""
    check_documents(registry, folder)
    for card in registry.cards.values():
        for field in ("title", "summary"):
            if getattr(card, field).startswith(OPEN):
                where = f"cards/{card.system}/{card.id}.yaml.{field}"
                raise SettingError(where, getattr(card, field), "still the draft's", "what the card is, in words")


def check_documents(declared: Declarations, folder: Path = FOLDER) -> None:
    """That documents name cards which are there, and that each card is named. Raises SettingError."""
    coverage = load_coverage(folder / "documents")
    for name, document in coverage.items():
        for section in document.sections:
            for card in section.cards:
                find(declared.cards, f"documents/{name}.yaml.{section.heading}", card, "no such enhancement")
    for card in declared.cards:
        if not sections_of(coverage, card):
            system = declared.cards[card].system
            raise SettingError(
                f"cards/{system}/{card}.yaml",
                "(the card)",
                "no section of a document names it",
                f"cards: [{card}] in a section of documents/<document>.yaml, which may be one of your own such as "
                "(not in the document)",
            )
