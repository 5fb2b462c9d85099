"""`gonn new-card`: a draft of an enhancement's card, valid as far as it can be, and its line in its document."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ablations.coverage import OPEN
from ablations.declarations import FOLDER
from ablations.designs import card_state
from ablations.registry import load_registry
from ablations.schema import Enhancement
from ablations.strict_yaml import parse_yaml
from gonn_core.config import config_paths, nearest_paths, parse_model, with_values
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.files.whole import write_bytes
from orchestration.console import output

OURS = "(not in the document)"
"""Heading of a document's section for cards that no section of it describes."""
USUAL_BASE = "gonn-b5"
_TEXT = """\
# A draft. Replace what begins with {open}; `gonn check` names what is left.
id: {id}
title: {title}
system: {system}
summary: {summary}
toggles:
{toggles}
base: {base}
# What a base must have, and must not:
# requires: [{{path: net.family, value: gonn}}]
# excludes: [{{card: another_card}}]
claims: []
# What its document claims, if it does, instead of `claims: []`; see ablations/README.md:
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


def new_card(
    name: str,
    system: str,
    title: str,
    settings: Sequence[str],
    off: Sequence[str],
    on: Sequence[str],
    summary: str | None = None,
    base: str | None = None,
    folder: Path = FOLDER,
) -> None:
    """Write the card, name it in its document, and print the next steps. Raises UserError before anything is
    written."""
    if not settings or not len(settings) == len(off) == len(on):
        problem = f"{len(settings)} settings, {len(off)} off and {len(on)} on values"
        raise UserError(f"--setting: {problem}; valid: one --off and one --on after each --setting")
    registry = load_registry(folder)
    systems = sorted({declared.system for declared in registry.bases.values()})
    if system not in systems:
        raise SettingError("SYSTEM", system, "no such system", systems)
    if name in registry.cards:
        raise SettingError("ID", name, "another card has this id", f"a new one; gonn show {name} shows that")
    toggles = {path: {"off": _value(one, "--off"), "on": _value(other, "--on")}
               for path, one, other in zip(settings, off, on, strict=True)}  # fmt: skip
    summary = summary or f"{OPEN}: what it does, in one sentence."
    tree = {"id": name, "title": title, "system": system, "summary": summary, "toggles": toggles, "claims": []}
    card = parse_model(Enhancement, tree, f"cards/{system}/{name}.yaml")
    ours = [declared for declared in registry.bases.values() if declared.system == system]
    bases = [registry.base(base)] if base else sorted(ours, key=lambda declared: declared.id != USUAL_BASE)
    for path in toggles:
        if path not in config_paths():
            raise SettingError("--setting", path, "no such setting", nearest_paths(path))
    chosen = next((one for one in bases if card_state(one.config, card.toggles) != "neither"), None)
    if chosen is None:
        for state in ("off", "on"):
            with_values(bases[0].config, card.values(state), f"--{state}")
        problem = "has neither the off nor the on values"
        raise SettingError("BASE", bases[0].id, problem, "another off value, or --base")
    document = folder / "documents" / f"{chosen.document}.yaml"
    if not os.access(document, os.W_OK):
        raise UserError(f"{document}: cannot be written; valid: a checkout of the repository")
    lines = [f"  {path}: {{off: {_yaml(pair['off'])}, on: {_yaml(pair['on'])}}}" for path, pair in toggles.items()]
    text = _TEXT.format(
        open=OPEN, id=name, title=_yaml(title), system=system, summary=_yaml(summary), toggles="\n".join(lines),
        base=chosen.id, document=document.stem, section=_yaml(OURS),
    )  # fmt: skip
    file = folder / "cards" / system / f"{name}.yaml"
    write_bytes(file, text.encode())
    listed = document.read_text(encoding="utf-8").rstrip("\n")
    write_bytes(document, f"{listed}\n  - {{heading: {_yaml(OURS)}, cards: [{name}]}}\n".encode())
    file, document = (path.relative_to(folder.parent) for path in (file, document))
    console = output()
    console.print(f"wrote {file} and {document}; base {chosen.id}")
    try:
        load_registry(folder).card(name)
    except SettingError as error:
        console.print(f"still wrong: {error}")
    console.print(
        f"Next: complete {file} (summary, claims or none) and its section in {document}, make remake,\n"
        f"gonn check; then gonn show {name}; gonn plan {name}; gonn ablate {name} --budget smoke"
    )


def _value(text: str, option: str):
    try:
        return parse_yaml(text, option)
    except InputError as error:
        raise SettingError(option, text, "not a YAML value", "such as relu, 3, true or [2, 3]") from error


def _yaml(value) -> str:
    return json.dumps(value, ensure_ascii=False)
