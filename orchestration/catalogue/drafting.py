"""`gonn new-card`: a draft of an enhancement's card, written where the declarations lie."""

import os
from collections.abc import Sequence
from pathlib import Path

from ablations.catalogue.drafts import OURS, draft, write_draft
from ablations.declarations import FOLDER
from ablations.registry import load_registry
from gonn_core.errors import SettingError, UserError
from orchestration.console import output


def new_card(
    name: str,
    system: str,
    title: str,
    settings: Sequence[str],
    off: Sequence[str],
    on: Sequence[str],
    summary: str | None = None,
    base: str | None = None,
    section: str | None = None,
    folder: Path = FOLDER,
) -> None:
    """Write the card, name it in its document, and say what is left to do. Raises UserError, and writes nothing
    then."""
    if not len(settings) == len(off) == len(on):
        problem = f"{len(settings)} settings, {len(off)} off and {len(on)} on values"
        raise UserError(f"--setting: {problem}; valid: one --off and one --on after each --setting")
    if not settings:
        raise UserError("--setting: not given; valid: a setting such as net.activation, with --off and --on")
    registry = load_registry(folder)
    systems = sorted({each.system for each in registry.bases.values()})
    if system not in systems:
        raise SettingError("SYSTEM", system, "no such system", systems)
    values = {path: pair for path, *pair in zip(settings, off, on, strict=True)}
    if len(values) < len(settings):
        raise SettingError("--setting", ", ".join(settings), "a setting is named twice", "each of them once")
    card = draft(registry, name, system, title, {path: (first, second) for path, (first, second) in values.items()},
                 summary, base)  # fmt: skip
    document = next(each.document for each in registry.bases.values() if each.system == system)
    if not os.access(folder / "documents", os.W_OK):
        raise UserError(f"{folder}: declarations that cannot be written; valid: a checkout of the repository")
    files = [each.relative_to(folder.parent) for each in write_draft(folder, card, document, section or OURS)]
    console = output()
    console.print(f"wrote {' and '.join(map(str, files))}; base {card.base}")
    try:
        load_registry(folder).card(card.id)
    except SettingError as error:
        console.print(f"still wrong: {error}")
    console.print(
        f"Next: complete {files[0]} (summary, claims or none), python -m ablations.readme, gonn check; then\n"
        f"gonn show {card.id}; gonn plan {card.id}; gonn ablate {card.id} --budget smoke"
    )
