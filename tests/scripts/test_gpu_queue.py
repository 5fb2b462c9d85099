"""The GPU queue: its entries are what they say, the five systems are in it, and what is done is seen."""

import json
import shutil
from pathlib import Path

import pytest

from ablations.registry import load_registry
from gonn_core.errors import InputError, SettingError
from gonn_core.step_model.devices import STANDARD
from orchestration.speeds.counted import counted
from orchestration.upkeep.cleaning import committed_jobs
from reports.workspace import Workspace
from scripts import gpu_queue
from scripts.gpu_queue import FOLDER, estimated_minutes, print_queue, read_queue


@pytest.fixture
def spoilt(tmp_path) -> Path:
    """A copy of the queue and its jobs, to be spoilt."""
    (tmp_path / "gpu").mkdir()
    shutil.copytree(FOLDER / "jobs", tmp_path / "gpu" / "jobs")
    for name in ("queue.yaml", "steps.json"):
        shutil.copy(FOLDER / name, tmp_path / "gpu")
    return tmp_path / "gpu"


def change(folder: Path, before: str, after: str) -> None:
    text = (folder / "queue.yaml").read_text()
    assert before in text
    (folder / "queue.yaml").write_text(text.replace(before, after, 1))


def test_every_entry_is_what_it_says():
    entries = read_queue()
    assert {entry.queued.job for entry in entries} == {
        path.stem for path in (FOLDER / "jobs").glob("*.json") if not path.stem.endswith(".recipe")
    }
    assert {entry.job.id for entry in entries} == committed_jobs() and len(committed_jobs()) == len(entries)
    registry = load_registry()
    assert {registry.base(entry.queued.base).system for entry in entries} == {
        "gonn",
        "go_nn",
        "clark_storkey",
        "lczero",
        "cazenave",
    }


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
        ("samples: 5_000_000", "samples: 6_000_000", "minutes"),
        ("minutes: 3,", "minutes: 70,", "3 min"),
        ("parametric_relu.early_loss", "parametric_relu.late_loss", "no such claim of parametric_relu"),
        ("parametric_relu.early_loss", "ladder_input.loss", "the job is no arm of ladder_input"),
        ("base: gonn-b5,", "base: gonn-b6,", "gonn-b6"),
        (
            "job: b5-s2, base: gonn-b5, seed: 2",
            "job: b5-s2, base: gonn-b5, seed: 3",
            "is not the trial of base, seed and set",
        ),
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


def test_minutes_by_the_model_of_a_step():
    """By hand: 39,600 samples/s of gonn-b5 and 11,300 of cazenave-14x256 on an H100, 5M samples, evaluations of 400,000
    positions in half a minute to one, and in 2.5 to 5."""
    entries = {entry.queued.job: entry for entry in read_queue()}
    minutes = {name: estimated_minutes(entries[name]) for name in ("clark-s1", "b5-s1", "cazenave-s1")}
    assert minutes["clark-s1"] < minutes["b5-s1"] < minutes["cazenave-s1"]
    found = {name: entries[name].on(STANDARD, {}) for name in minutes}
    assert found["b5-s1"].samples_per_s == pytest.approx(39_600, rel=0.2)
    assert found["cazenave-s1"].samples_per_s == pytest.approx(11_300, rel=0.2)
    assert 30 < 400_000 / found["b5-s1"].positions_per_s < 60
    assert 120 < 400_000 / found["cazenave-s1"].positions_per_s < 300
    assert not any(one.measured for one in found.values())


@pytest.mark.system
def test_committed_counts_are_those_of_the_jobs():
    """As far as versions of torch agree."""
    entries = read_queue()
    counts = counted({entry.queued.job: entry.job.config for entry in entries}, None, lambda _: None)
    for entry in entries:
        told, found = entry.counts.step, counts[entry.queued.job].step
        assert found.bf16 == pytest.approx(told.bf16, rel=0.02), entry.queued.job
        assert found.bytes == pytest.approx(told.bytes, rel=0.1) and found.kernels == pytest.approx(
            told.kernels, rel=0.1
        )


def test_another_device_and_what_was_measured_on_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    print_queue("l4")
    said = " ".join(capsys.readouterr().out.split())
    assert "min of one L4, one at a time: an estimate, from a model of the step" in said
    first = read_queue()[0]
    folder = tmp_path / "runs" / "0123456789abcdef"
    folder.mkdir(parents=True)
    shutil.copy(FOLDER / "jobs" / "b5-s2.json", folder / "config.json")
    (folder / "result.json").write_text(json.dumps({"device": "NVIDIA L4", "samples_per_s": 1000.0}))
    print_queue("l4")
    said = " ".join(capsys.readouterr().out.split())
    assert "2 of 17 measured on such a device, for others an estimate" in said and first.queued.job == "b5-s1"
    with pytest.raises(SettingError, match="GPU=h999"):
        print_queue("h999")


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


def test_nothing_is_next_when_all_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr(gpu_queue.Entry, "state", lambda *_: "done")
    print_queue()
    assert "all of the queue is done" in capsys.readouterr().out
