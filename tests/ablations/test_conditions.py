"""The judge takes each claim to be measured under the conditions that a reader compared with the document.

`conditions.yaml` holds a digest of them per claim, with the date and the reader. When one changes, read the claim again
in its document; then

    python -m tests.ablations.test_conditions READER

records new and changed claims under today's date.
"""

import hashlib
import json
import sys
from datetime import date
from pathlib import Path

import yaml

from ablations.claimed import conditions_of
from ablations.registry import Registry, load_registry

FILE = Path(__file__).with_name("conditions.yaml")


def judged(registry: Registry, card, claim) -> dict:
    """The conditions of a claim as the judge has them; None: the document leaves it open."""
    conditions = conditions_of(registry, card, claim)
    row = {"base": claim.base, "at": claim.samples or claim.stage, "games": sorted(claim.games)}
    row |= {"from": claim.samples_from, "window": claim.window, "planes": claim.planes}
    if conditions is None:
        return row
    training = conditions.on.training
    values = {
        "features": ("planes", conditions.planes),
        "training.loss": ("loss", training.loss),
        "training.schedule.kind": ("schedule", training.schedule.kind),
        "training.optimiser.learning_rate": ("rate", training.optimiser.learning_rate),
    }
    return row | {name: value if conditions.tells(path) else None for path, (name, value) in values.items()}


def current() -> dict[str, dict[str, dict]]:
    """Document -> card.claim -> its conditions."""
    registry, found = load_registry(), {}
    for card in registry.cards.values():
        for claim in card.claims:
            found.setdefault(claim.document, {})[f"{card.id}.{claim.id}"] = judged(registry, card, claim)
    return found


def digest(row: dict) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:12]


def read() -> dict[str, dict[str, str]]:
    """Document -> card.claim -> `digest date reader`."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_the_conditions_of_every_claim_are_those_that_were_read():
    recorded, rows = read(), current()
    assert {document: set(claims) for document, claims in rows.items()} == {
        document: set(claims) for document, claims in recorded.items()
    }
    changed = {
        name: row
        for document, claims in rows.items()
        for name, row in claims.items()
        if recorded[document][name].split()[0] != digest(row)
    }
    assert not changed, "read these claims in their documents; then python -m tests.ablations.test_conditions READER"


def test_every_claim_has_a_date_and_a_reader():
    for claims in read().values():
        for entry in claims.values():
            _, day, *reader = entry.split()
            assert date.fromisoformat(day) and reader


if __name__ == "__main__":
    recorded = read() if FILE.exists() else {}
    reader = " ".join(sys.argv[1:]) or sys.exit("who has read them? python -m tests.ablations.test_conditions READER")
    for document, claims in (rows := current()).items():
        of_document = recorded.get(document, {})
        rows[document] = {
            name: known
            if (known := of_document.get(name, "")).split()[:1] == [digest(row)]
            else f"{digest(row)} {date.today().isoformat()} {reader}"
            for name, row in sorted(claims.items())
        }
    FILE.write_text(yaml.safe_dump(rows, sort_keys=True, width=200), encoding="utf-8")
