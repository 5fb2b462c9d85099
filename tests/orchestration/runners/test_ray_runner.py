"""The Ray runner without Ray: addresses, nodes, and what a command does when its child does not start, dies or falls
silent."""

import shutil
from pathlib import Path

import pytest

from gonn_core.errors import SettingError, UserError
from orchestration.experiment.pipeline import make_runner
from orchestration.runners import ray_runner
from orchestration.runners.ray_runner import PACKAGES, RayRunner, node_problem
from tests.orchestration.fakes import fake_job
from tests.trial.helpers import starter_data, tiny_job


@pytest.fixture
def fake_ray(monkeypatch, tmp_path):
    """`RayRunner`, its Ray a fake one in a folder of its own."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(ray_runner, "SERVE", "tests.orchestration.runners.ray_fakes:serve")
    monkeypatch.setattr(ray_runner, "TMP", scratch)
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", ray_runner.SILENCE_SECONDS)  # put back afterwards

    def runner(behaviour, address=None):
        monkeypatch.setenv("FAKE_RAY", behaviour)
        return RayRunner(address)

    yield runner
    assert list(scratch.iterdir()) == []


def run(runner, folder: Path):
    """Outcomes and events; a child that was started may be silent for two seconds."""
    events = []

    def on_event(event):
        ray_runner.SILENCE_SECONDS = 300.0 if event.kind == "retried" else 2.0
        events.append(event)

    ray_runner.SILENCE_SECONDS = 300.0
    outcomes = runner.run([fake_job(folder, seed) for seed in range(2)], 1, on_event)
    return outcomes, [(event.kind, getattr(event, "message", "")) for event in events]


def starts(folder: Path) -> list[str]:
    return (folder / "starts").read_text().split()


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("dies once", "its process was killed by SIGABRT"),
        ("falls silent once", "its process did not answer for 2 seconds"),
        ("starts late", None),
    ],
)
def test_a_ray_that_dies_is_started_once_more_and_its_trial_resumes(fake_ray, tmp_path, behaviour, why):
    outcomes, events = run(fake_ray(behaviour), tmp_path)
    assert [outcome.state for outcome in outcomes] == ["done", "done"] and len(starts(tmp_path)) == 2
    first = [("begun", ""), ("retried", f"Ray ended ({why}); it is started again")] if why else []
    assert events == first + [("begun", ""), ("finished", "")] * 2


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [("dies", "its process was killed by SIGABRT"), ("does not start", "The current node timed out during startup")],
)
def test_a_ray_that_dies_twice_ends_the_command_with_one_line(fake_ray, tmp_path, behaviour, why):
    with pytest.raises(UserError) as error:
        run(fake_ray(behaviour), tmp_path)
    assert why in str(error.value) and "\n" not in str(error.value)
    assert len(starts(tmp_path)) == 2


def test_a_cluster_that_falls_silent_ends_the_command_with_one_line(fake_ray, tmp_path):
    with pytest.raises(UserError, match="no Ray cluster there"):
        run(fake_ray("refuses", "10.0.0.1:6379"), tmp_path)
    gone = r"RAY_ADDRESS=10.0.0.1:6379: the cluster is gone \(its process did not answer for 2 seconds"
    with pytest.raises(UserError, match=gone):
        run(fake_ray("falls silent", "10.0.0.1:6379"), tmp_path)
    assert not list(tmp_path.glob(".gonn-ray-*"))


def test_where_the_address_comes_from(monkeypatch):
    def address(given, name="ray"):
        return make_runner(name, given)._address

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert address(None) is None and address("10.0.0.1:6379") == "10.0.0.1:6379"
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert address(None) == "auto" and address("10.0.0.1:6379") == "10.0.0.1:6379"
    make_runner("local")  # a variable for Ray does not concern the local runner
    for given, runner in (("10.0.0.1:6379", "local"), ("ray://10.0.0.1:10001", "ray"), ("local", "ray")):
        with pytest.raises(SettingError) as error:
            address(given, runner)
        assert error.value.setting == "RAY_ADDRESS"


def test_code_travels_without_data():
    files = [
        path for folder in PACKAGES for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {path.suffix for path in files} <= {".py", ".json", ".yaml", ".npz", ".txt", ".js"}
    assert sum(path.stat().st_size for path in files) < 5_000_000


def test_a_node_must_see_the_folder_and_have_the_whole_store(tmp_path):
    def problem(scratch: Path, store: Path) -> str | None:
        return node_problem(tiny_job(tmp_path, store=str(store)), str(scratch))

    store = starter_data().store
    assert problem(tmp_path, store.folder) is None
    assert "does not see" in problem(tmp_path / "another", store.folder)
    assert "no position store" in problem(tmp_path, tmp_path)
    copy = Path(shutil.copytree(store.folder, tmp_path / "stores" / store.digest))
    data = bytearray((copy / "moves.npy").read_bytes())
    data[-1] ^= 1
    (copy / "moves.npy").write_bytes(data)
    assert "contents differ from the digest" in problem(tmp_path, copy)
