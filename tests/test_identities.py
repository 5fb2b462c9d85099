"""Names under which results lie on users' disks: whatever is moved or rewritten, what was made before is found again.

`fixtures/identities.json` was written by version 0.1. A test that fails here says that trials, evaluations, stores or
studies of users would be orphaned. The map of cards alone may change: when a card or a base is mended on purpose, its
trials are others.
"""

import json
from pathlib import Path

import pytest

from ablations.arms import resolve
from ablations.registry import load_registry
from ablations.study import read_study, study_id
from gonn_core.config import canonical, parse_config, trial_id
from gonn_core.evaluation.metrics import Reading, evaluation_id
from gonn_core.evaluation.probes.stored import answers_id
from gonn_core.play.match.record import identity_digest
from gonn_core.records import build
from reports.tables.formats import about
from scripts.pack import members
from scripts.results import PACKS
from tests.paths import ROOT

PINNED = json.loads((ROOT / "tests" / "fixtures" / "identities.json").read_text())


@pytest.fixture(scope="module")
def packed():
    """Small files of the trials, studies, matches and ladders in results/trials, by name."""
    return {name: data for name, data in members(PACKS).items() if name.endswith((".json", "/games.jsonl"))}


@pytest.mark.parametrize("pinned", PINNED["trials"], ids=lambda pinned: pinned["id"])
def test_a_configuration_has_the_trial_id_that_it_had(pinned):
    config = parse_config(pinned["config"])
    assert trial_id(config) == pinned["id"] and canonical(config) == pinned["config"]


def test_every_card_asks_for_the_trials_that_it_asked_for():
    registry = load_registry()
    found = {}
    for card in registry.cards:
        arms = {budget: resolve(registry, card, budget) for budget in ("smoke", "cpu")}
        found[card] = {budget: [trial_id(pair.off), trial_id(pair.on)] for budget, pair in arms.items()}
    assert found == PINNED["cards"]


def test_a_store_is_indexed_as_it_was():
    pinned = PINNED["store_index"]
    sources = [build.GameSource(Path(f"{number}.tar"), scheme) for number, (scheme, _) in enumerate(pinned["sources"])]
    assert build._source_key(sources, [checksum for _, checksum in pinned["sources"]]) == pinned["key"]


def test_evaluations_and_answers_to_probes_are_named_as_they_were():
    for pinned in PINNED["evaluations"]:
        weights, subset, history, averaged, legal = pinned["arguments"]
        assert evaluation_id(weights, subset, history, Reading(averaged, legal)) == pinned["id"]
    assert answers_id(*PINNED["probes"]["arguments"]) == PINNED["probes"]["id"]


def test_trials_and_studies_on_disk_have_the_ids_that_this_code_gives_them(packed, tmp_path):
    trials = {
        name.split("/")[1]: json.loads(data)
        for name, data in packed.items()
        if name.startswith("runs/") and name.endswith("/config.json")
    }
    assert len(trials) >= 30
    for name, tree in trials.items():
        assert trial_id(parse_config(tree["config"])) == name
    studies = {name.split("/")[1]: data for name, data in packed.items() if name.endswith("/study.json")}
    assert len(studies) >= 5
    for name, data in studies.items():
        (tmp_path / "study.json").write_bytes(data)
        study = read_study(tmp_path / "study.json")
        decided = [
            list(study.cards or ("control",)),
            study.base,
            study.budget if study.samples is None else f"{study.budget}-{about(study.samples)}",
            study.data,
            study.design,
            [trial.trial for trial in study.trials],
        ]
        assert study_id(*decided, study.thresholds, study.evaluations, study.looks) == study.id == name


def test_evaluations_on_disk_have_the_ids_that_this_code_gives_them(packed):
    names = [name for name in packed if "/eval/" in name]
    assert len(names) >= 60
    for name in names:
        tree = json.loads(packed[name])
        reading = Reading(tree.get("symmetry_averaging", False), tree.get("legal_only", False))
        assert (
            evaluation_id(tree["weights"], tree["subset"], tree["history"], reading, tree["metric_set"])
            == tree["id"]
            == Path(name).stem
        )


def test_matches_on_disk_have_the_ids_that_this_code_gives_them(packed):
    matches = {name.split("/")[1]: json.loads(data) for name, data in packed.items() if name.endswith("/match.json")}
    assert len(matches) >= 20
    for name, tree in matches.items():
        decided = {key: value for key, value in tree.items() if key not in ("format", "id", "seal")}
        assert identity_digest(decided) == tree["id"] == name
