"""A part of a net whose code changed, under the same settings: what was trained with the old one is not used."""

import json
import shutil
from pathlib import Path

import pytest

from gonn_core.errors import InputError
from gonn_core.files.seals import sealed_json
from gonn_core.nets.cost import fingerprint
from gonn_core.nets.gonn import inserted
from gonn_core.nets.init import parameter
from gonn_core.trial import directory as directories
from gonn_core.trial.directory import TrialDirectory, other_net
from gonn_core.trial.events import Started
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import load_net
from tests.trial.helpers import tiny_config, tiny_job


def job_of(runs: Path):
    return tiny_job(runs, tiny_config(training__samples=160, net__trunk__ladder_block=True))


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    job = job_of(tmp_path_factory.mktemp("trained"))
    run_trial(job)
    return Path(job.run.runs) / job.id


@pytest.fixture
def folder(tmp_path, trained) -> Path:
    """A copy of a trial that is done."""
    return shutil.copytree(trained, tmp_path / trained.name)


@pytest.fixture
def other_code(monkeypatch):
    """The sources of nets differ from those that trained; what they make is up to the test."""
    monkeypatch.setattr(directories, "net_code", lambda: "0" * 16)
    fingerprint.cache_clear()
    yield
    fingerprint.cache_clear()


def wider(width: int, share: str) -> int:
    return width // 2 + 4


def changed(folder: Path, name: str, change) -> None:
    tree = json.loads((folder / name).read_text())
    del tree["seal"]
    change(tree)
    (folder / name).write_bytes(sealed_json(tree))


PARTS = {
    "width": (("sub_width", wider), "parameters, now "),
    "sum": (("STRONGEST", 3.0), "other initial weights or other outputs"),
    "start": (("parameter", lambda values: parameter(0.9 * values)), "other initial weights or other outputs"),
}
"""What of the ladder block's module is put in another's place, and what is said."""


@pytest.mark.parametrize("part", PARTS)
def test_a_trial_of_another_net_is_neither_used_nor_changed(folder, other_code, monkeypatch, part):
    replaced, words = PARTS[part]
    monkeypatch.setattr(inserted, *replaced)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for use in (lambda: run_trial(job_of(folder.parent)), lambda: load_net(folder)):
        with pytest.raises(InputError, match=f"{folder.name}: trained with another net .*{words}.*raise NETS"):
            use()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_other_code_that_makes_the_same_net_changes_nothing(folder, other_code):
    def rounded_otherwise(tree):
        tree["net"]["numbers"] = [number * (1 + 4e-6) for number in tree["net"]["numbers"]]

    changed(folder, "config.json", rounded_otherwise)
    events = []
    assert run_trial(job_of(folder.parent), events.append)["state"] == "done"
    assert not any(isinstance(event, Started) for event in events)


def test_a_trial_without_a_fingerprint_is_held_to_its_parameters(folder, monkeypatch):
    changed(folder, "config.json", lambda tree: tree.pop("net"))
    assert run_trial(job_of(folder.parent))["state"] == "done"
    changed(folder, "result.json", lambda tree: tree.update(parameters=tree["parameters"] + 1))
    with pytest.raises(InputError, match="parameters, now "):
        run_trial(job_of(folder.parent))


def test_a_trial_of_other_numerics_is_not_compared(folder, other_code, monkeypatch):
    monkeypatch.setattr(inserted, "STRONGEST", 3.0)
    directory = TrialDirectory(folder)
    tree = directory.config()
    assert other_net(tree, directory.result()) is not None
    assert other_net(tree | {"numerics": tree["numerics"] | {"nets": 0}}, directory.result()) is None
