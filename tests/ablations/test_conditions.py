"""What the judge takes for the conditions of each claim, against tables written by hand from the documents.

`conditions/<document>.yaml` is a list with an entry for every claim that the document makes:

    - claim: parametric_relu.early_loss      # card.claim
      base: gonn-b4                           # null: none of ours
      at: 5_000_000                           # samples, or finished, any, early, unknown
      from: 5_000_000                         # the fewest, with any; left out: from the start
      window: 500_000                         # samples that a training loss is averaged over; left out: not told
      games: gogod                            # the data sets with its years, filter and split, or any, other
      planes: 13                              # of the net that has it; null: not told
      loss: cross_entropy                     # null here and below: not told
      schedule: gonn
      rate: 0.032                             # the first one, for a loss averaged over the batch
      words: "…"                              # what it rests on, word by word; "from memory", "code: …", "picture: …"

The words of claims whose evidence is `stated` or `derived` must stand in the document; `…` stands for what is left out.
"""

import re
from pathlib import Path

import pytest
import yaml

from ablations.claimed import conditions_of
from ablations.registry import load_registry
from gonn_core.metrics import METRICS
from tests.paths import SHARED

FOLDER = Path(__file__).parent / "conditions"
SEEDS = {
    "gonn_sandbox": "gonn_sandbox.txt",
    "clark_storkey_2014": "clark_storkey_2014.txt",
    "go_nn_theduck314": "go_nn_theduck314.txt",
    "cazenave_2017": "cazenave_2017.txt",
    "lczero_training_fork": "lczero_training_fork.txt",
}
COLUMNS = {"claim", "base", "at", "games", "planes", "loss", "schedule", "rate", "words"}
FURTHER = {"from", "window"}


def table(document: str) -> dict[str, dict]:
    entries = yaml.safe_load((FOLDER / f"{document}.yaml").read_text())
    assert [entry for entry in entries if set(entry) - FURTHER != COLUMNS][:1] == []
    for entry in entries:
        entry["games"] = [entry["games"]] if isinstance(entry["games"], str) else entry["games"]
    names = [entry["claim"] for entry in entries]
    assert len(set(names)) == len(names)
    return {entry["claim"]: entry for entry in entries}


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def claims_of(registry, document: str) -> dict:
    return {
        f"{card.id}.{claim.id}": (card, claim)
        for card in registry.cards.values()
        for claim in card.claims
        if claim.document == document
    }


def judged(registry, card, claim) -> dict:
    """The conditions as the judge has them."""
    conditions = conditions_of(registry, card, claim)
    row = {"base": claim.base, "at": claim.samples or claim.stage, "games": list(claim.games)}
    row |= {"from": claim.samples_from, "window": claim.window}
    if conditions is None:
        return row | {"planes": claim.planes, "loss": None, "schedule": None, "rate": None}
    training = conditions.on.training

    def told(path, value):
        return value if conditions.tells(path) else None

    return row | {
        "planes": told("features", conditions.planes),
        "loss": told("training.loss", training.loss),
        "schedule": told("training.schedule.kind", training.schedule.kind),
        "rate": told("training.optimiser.learning_rate", training.optimiser.learning_rate),
    }


@pytest.mark.parametrize("document", SEEDS)
def test_the_judge_finds_the_conditions_that_the_document_tells(registry, document):
    written = table(document)
    found = {name: judged(registry, *pair) for name, pair in claims_of(registry, document).items()}
    assert set(found) == set(written)
    wrong = {
        name: (row, written[name])
        for name, row in found.items()
        if any(written[name].get(key) != row[key] for key in row)
    }
    assert not wrong


@pytest.mark.parametrize("document", SEEDS)
def test_the_words_stand_in_the_document(registry, document):
    path = SHARED / "seeds" / SEEDS[document]
    if not path.is_file():
        pytest.skip("the documents' texts are not here")
    text, claims = _plain(path.read_text()), claims_of(registry, document)
    for name, entry in table(document).items():
        card, claim = claims[name]
        assert entry["words"], name
        if claim.evidence in ("stated", "derived") and METRICS[claim.metric].source != "net":
            for part in entry["words"].split("…"):
                assert _plain(part) in text, (name, part)


def _plain(text: str) -> str:
    """Letters and figures alone, in lower case: line breaks, hyphens and quotation marks differ between copies."""
    return re.sub(r"[^a-z0-9.%]+", " ", text.lower()).strip()
