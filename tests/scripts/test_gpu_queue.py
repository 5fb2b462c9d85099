"""The GPU queue: its entries are what they say, the five systems are in it, and what is done is seen."""

import json
import shutil
from pathlib import Path

import pytest

from ablations.registry import load_registry
from gonn_core.errors import InputError, SettingError
from orchestration.upkeep.cleaning import committed_jobs
from reports.workspace import Workspace
from scripts.gpu_queue import FOLDER, print_queue, read_queue


@pytest.fixture
def spoilt(tmp_path) -> Path:
    """A copy of the queue and its jobs, to be spoilt."""
    (tmp_path / "gpu").mkdir()
    shutil.copytree(FOLDER / "jobs", tmp_path / "gpu" / "jobs")
    shutil.copy(FOLDER / "queue.yaml", tmp_path / "gpu")
    return tmp_path / "gpu"


def change(folder: Path, before: str, after: str) -> None:
    text = (folder / "queue.yaml").read_text()
    assert before in text
    (folder / "queue.yaml").write_text(text.replace(before, after, 1))


def test_every_entry_is_what_it_says():
    entries = read_queue()
    jobs = {path.stem for path in (FOLDER / "jobs").glob("*.json") if not path.stem.endswith(".recipe")}
    assert {entry.queued.job for entry in entries} == jobs
    assert {entry.job.id for entry in entries} == committed_jobs() and len(committed_jobs()) == len(entries)
    registry = load_registry()
    systems = {registry.base(entry.queued.base).system for entry in entries}
    assert systems == {"gonn", "go_nn", "clark_storkey", "lczero", "cazenave"}


def test_a_claim_is_queued_with_both_arms():
    """A trial that is for a claim has the other arm, on the same seed, somewhere in the queue."""
    entries = read_queue()
    for entry in entries:
        if entry.queued.claims and entry.queued.set:
            assert any(
                other.queued.base == entry.queued.base
                and other.queued.seed == entry.queued.seed
                and not other.queued.set
                for other in entries
            ), entry.queued.job


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("net.activation: relu", "net.activation: crelu", "crelu"),
        ("samples: 5_000_000", "samples: 6_000_000", "is not the trial of base, samples, seed and set"),
        ("parametric_relu.early_loss", "parametric_relu.late_loss", "no such claim of parametric_relu"),
        ("parametric_relu.early_loss", "ladder_input.loss", "the job is no arm of ladder_input"),
        ("base: gonn-b5,", "base: gonn-b6,", "gonn-b6"),
    ],
)
def test_an_entry_that_is_not_what_it_says_is_one_line(spoilt, before, after, said):
    change(spoilt, before, after)
    with pytest.raises(SettingError, match="b5|gonn-b6") as caught:
        read_queue(spoilt)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_job_is_queued_once(spoilt):
    change(spoilt, "job: b5-s2,", "job: b5-s1,")
    with pytest.raises(InputError, match="queued twice"):
        read_queue(spoilt)


def test_what_is_done_is_seen_here_or_beside_the_queue(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    first, second, *_ = read_queue()
    print_queue()
    said = capsys.readouterr().out
    assert f"0 of {len(committed_jobs())} done" in said and f"jobs/{first.queued.job}.json" in said
    (tmp_path / "runs" / first.job.id).mkdir(parents=True)
    (tmp_path / "runs" / first.job.id / "result.json").write_text(json.dumps({}))
    print_queue()
    said = capsys.readouterr().out
    assert f"1 of {len(committed_jobs())} done" in said and f"jobs/{second.queued.job}.json" in said
    folder = tmp_path / "gpu" / "trials" / second.job.id
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")
    assert second.state(Workspace(tmp_path), tmp_path / "gpu") == "done" and second.state(Workspace(tmp_path)) == "new"
