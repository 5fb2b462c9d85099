"""`gonn import`: a directory from elsewhere is taken over when all that can be recomputed agrees, else refused with one
line."""

import json
import shutil
from functools import cache
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from gonn_core.evaluation.metrics import weights_digest
from gonn_core.files.json_files import read_json
from gonn_core.trial import weights
from gonn_core.trial.job import read_job
from gonn_core.trial.run import run_trial
from orchestration.cli import command as cli
from tests.trial.helpers import tiny_config, tiny_job


@cache
def _trained(folder: Path) -> Path:
    """One trained trial of 80 samples; its directory."""
    job = tiny_job(folder, tiny_config(training__samples=80))
    assert run_trial(job)["state"] == "done"
    return folder / job.id


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    return _trained(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """An empty workspace."""
    folder = tmp_path / "home"
    monkeypatch.setenv("GONN_HOME", str(folder))
    return folder


@pytest.fixture
def brought(trained, tmp_path) -> Path:
    """A copy of the trained directory, to be spoilt."""
    return Path(shutil.copytree(trained, tmp_path / "brought" / "b5 from the GPU"))


def change_json(path: Path, **values) -> None:
    path.write_text(json.dumps(read_json(path) | values))  # without a seal, as somebody would who means it


def summary_of(trial: Path) -> Path:
    (path,) = (trial / "eval").glob("*.json")
    return path


def test_a_trial_comes_back_whole_and_once(trained, brought, home, capsys):
    (brought / "lease.json").write_text("{}")  # of the other machine: stays there
    (brought / "run_me.sh").write_text("true")  # no file of a trial: stays there too
    assert cli.run(["import", str(brought.parent)]) == 0
    assert "1 trials taken over" in capsys.readouterr().out
    taken = home / "runs" / trained.name  # whatever the folder was called
    files = {str(path.relative_to(trained)) for path in trained.rglob("*") if path.is_file()} - {
        "lease.lock",
        "eval/.verified",
    }
    taken_over = {str(path.relative_to(taken)) for path in taken.rglob("*") if path.is_file()}
    assert taken_over == {*files, "eval/.verified"}  # what was verified here
    assert all((taken / name).read_bytes() == (trained / name).read_bytes() for name in files)
    assert sorted(path.name for path in (home / "runs").iterdir() if not path.name.startswith(".")) == [trained.name]
    (taken / "result.json").write_text("as it was")
    assert cli.run(["import", str(brought)]) == 0
    assert "0 trials taken over" in (said := capsys.readouterr().out) and "1 here already" in said
    assert (taken / "result.json").read_text() == "as it was"


def other_rate(trial):
    tree = read_json(trial / "config.json")
    tree["config"]["training"]["optimiser"]["learning_rate"] = 0.5
    (trial / "config.json").write_text(json.dumps(tree))


def unfinished(trial):
    (trial / "result.json").unlink()


def flipped(trial):
    path = trial / "result.json"
    path.write_text(path.read_text().replace('"samples": 80', '"samples": 81'))


def link(trial):
    (trial / "checkpoint.safetensors").unlink()
    (trial / "checkpoint.safetensors").symlink_to("/etc/passwd")


def other_weights(trial):
    """A snapshot that is whole, with other weights than the trial's."""
    (path,) = (trial / "snapshots").glob("*.safetensors")
    job = read_job(trial / "config.json")
    tensors, notes = weights.unpack(path, job.id)
    next(iter(tensors.values())).add_(1)
    path.write_bytes(weights.pack(job.id, tensors, notes | {"weights": weights_digest(tensors)}))


def cut_arrays(trial):
    path = summary_of(trial).with_suffix(".npz")
    path.write_bytes(path.read_bytes()[:-100])


def list_for_a_number(trial):
    change_json(summary_of(trial), samples=[40])


SPOILT = {
    other_rate: "config.json",
    unfinished: "result.json",
    flipped: "result.json",
    link: "checkpoint.safetensors",
    other_weights: "last snapshot",
    cut_arrays: "eval/",
    list_for_a_number: "TypeError",
}


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_what_does_not_agree_is_refused_with_one_line(spoil, brought, home, capsys):
    spoil(brought)
    assert cli.run(["import", str(brought)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("b5 from the GPU: refused: ") and SPOILT[spoil] in first, first
    assert last.endswith("0 trials taken over into %s, 0 here already, 1 refused" % (home / "runs"))
    assert [path.name for path in (home / "runs").iterdir() if not path.name.startswith(".sweep")] == []


def test_one_bad_trial_does_not_keep_the_others_out(brought, trained, home, capsys):
    other = shutil.copytree(trained, brought.parent / "a second")
    unfinished(Path(other))
    assert cli.run(["import", str(brought.parent)]) == 1
    assert (home / "runs" / trained.name / "result.json").exists()
    assert load_file(next((home / "runs" / trained.name / "snapshots").iterdir()))


def test_a_folder_without_trials_is_a_bad_setting(tmp_path, capsys):
    assert cli.run(["import", str(tmp_path)]) == 2 and "no trial directory" in capsys.readouterr().err
    assert cli.run(["import", str(tmp_path / "none")]) == 2 and "no such folder" in capsys.readouterr().err
