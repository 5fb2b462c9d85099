"""ablations/README.md says what is declared."""

import re

from ablations.readme import README
from ablations.registry import FOLDER, load_registry


def test_every_declaration_is_in_it_and_every_link_leads_somewhere():
    text, registry = README.read_text(encoding="utf-8"), load_registry()
    assert all(f"[`{card.id}`](cards/{card.system}/{card.id}.yaml)" in text for card in registry.cards.values())
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(registry.cards) + len(registry.bases) and all((FOLDER / link).is_file() for link in links)
