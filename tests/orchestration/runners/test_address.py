"""A study on somebody's Ray cluster: where its address comes from, what its nodes must see, and a node that is lost
during a study."""

import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gonn_core.errors import SettingError
from gonn_core.trial.job import Job
from gonn_core.trial.run import run_trial
from orchestration.cli import command as cli
from orchestration.runners.choose import address_of
from orchestration.runners.ray_tune import node_problem, shipped
from tests.paths import ROOT
from tests.trial.helpers import assert_same_trial, starter_data, tiny_config, tiny_job
from tests.waiting import PATIENCE


def test_where_the_address_comes_from(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert address_of(None, "ray") is None and address_of("10.0.0.1:6379", "ray") == "10.0.0.1:6379"
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert address_of(None, "ray") == "auto" and address_of("10.0.0.1:6379", "ray") == "10.0.0.1:6379"
    assert address_of(None, "local") is None, "a variable for Ray does not concern the local runner"
    for given, runner in (("10.0.0.1:6379", "local"), ("ray://10.0.0.1:10001", "ray"), ("local", "ray")):
        with pytest.raises(SettingError, match="RAY_ADDRESS"):
            address_of(given, runner)


def test_a_bad_address_is_one_line_before_any_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    assert (
        cli.run(["ablate", "parametric_relu", "--budget", "smoke", "--runner", "local", "--address", "10.0.0.1:6379"])
        == 2
    )
    assert capsys.readouterr().err.startswith("RAY_ADDRESS=10.0.0.1:6379: RUNNER=local uses no cluster")
    assert list(tmp_path.iterdir()) == []


def test_code_travels_without_data():
    folders = [Path(path) for path in shipped()["py_modules"]]
    assert [folder.name for folder in folders] == ["gonn_core", "orchestration"]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert all(path.suffix in (".py", ".json", ".yaml", ".npz", ".txt", ".js") for path in files), {
        path.suffix for path in files
    }
    assert sum(path.stat().st_size for path in files) < 5_000_000


def test_a_node_must_see_the_folder_and_have_the_store(tmp_path):
    store, token = starter_data().store, tmp_path / "token"
    token.touch()
    assert node_problem(str(tmp_path), str(token), str(store.folder)) is None
    assert "does not see" in node_problem(str(tmp_path), str(tmp_path / "another"), str(store.folder))
    assert "no position store" in node_problem(str(tmp_path), str(token), str(tmp_path))


def test_a_store_that_differs_on_a_node_is_found(tmp_path):
    store = starter_data().store
    copy = Path(shutil.copytree(store.folder, tmp_path / "stores" / store.digest))
    data = bytearray((copy / "moves.npy").read_bytes())
    data[-1] ^= 1
    (copy / "moves.npy").write_bytes(data)
    assert "contents differ from the digest" in node_problem(str(tmp_path), str(copy), str(copy))


def run_and_tell(job: Job, on_progress) -> dict:
    """A real trial that leaves where its code came from, and on which node it ran, beside its directory."""
    import ray

    import gonn_core

    with open(Path(job.run.runs).parent / "told.txt", "a") as file:
        print(job.id, gonn_core.__file__, ray.get_runtime_context().get_node_id(), file=file)
    return run_trial(job, on_progress)


SAMPLES = 8000

DRIVER = """
import json, os, sys
from pathlib import Path
from ray.cluster_utils import Cluster
from gonn_core.trial.job import read_job
from gonn_core.trial.directory import TrialDirectory
from orchestration.runners.ray_runner import RayRunner

if __name__ == "__main__":
    home, jobs = Path(sys.argv[1]), [read_job(Path(path)) for path in sys.argv[2:]]
    size = 80 * 2**20
    head = {"num_cpus": 1, "object_store_memory": size, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    second = cluster.add_node(num_cpus=1, object_store_memory=size)
    lost = []

    def on_event(event):
        print(json.dumps({"event": event.kind, "trial": event.trial}), flush=True)
        told = (home / "told.txt").read_text().split() if (home / "told.txt").exists() else []
        if not lost and event.kind == "point" and second.node_id in told:
            trial = told[told.index(second.node_id) - 2]
            directory = TrialDirectory(home / "runs" / trial)
            if directory.checkpoint.exists() and directory.state() == "running":
                lost.append(trial)
                cluster.remove_node(second, allow_graceful=False)

    runner = RayRunner(cluster.address, "tests.orchestration.runners.test_address:run_and_tell")
    outcomes = runner.run(jobs, None, on_event)
    print(json.dumps({"states": [outcome.state for outcome in outcomes], "lost": lost}), flush=True)
    cluster.shutdown()
"""


@pytest.mark.system
@pytest.mark.xdist_group("ray")
@pytest.mark.skipif(not Path("/proc").exists(), reason="several nodes on one machine: Linux alone")
def test_a_lost_node_costs_a_checkpoint_interval_and_the_numbers_are_those_of_an_undisturbed_run(tmp_path):
    import json

    configs = [tiny_config(training__samples=SAMPLES, training__init_seed=seed) for seed in (1, 2)]
    whole = [tiny_job(tmp_path / "whole", config, progress_points=32) for config in configs]
    files = []
    for number, config in enumerate(configs):
        job = tiny_job(tmp_path / "home" / "runs", config, progress_points=32, checkpoint_seconds=0.1)
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(job.model_dump_json())
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "PYTHONPATH": str(ROOT),
    }
    environment |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "home"), *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    *events, last = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert last["states"] == ["done", "done"] and len(last["lost"]) == 1
    assert [event["trial"] for event in events if event["event"] == "retried"] == last["lost"]
    told = [line.split() for line in (tmp_path / "home" / "told.txt").read_text().splitlines()]
    assert len(told) == 3 and all("py_modules_files" in code for _, code, _ in told), told
    for job in whole:
        run_trial(job)
        assert_same_trial(tmp_path / "whole" / job.id, tmp_path / "home" / "runs" / job.id)
    sessions = json.loads((tmp_path / "home" / "runs" / last["lost"][0] / "config.json").read_text())["sessions"]
    assert len(sessions) == 2 and sessions[1]["from_samples"] > 0
    assert sorted(path.name for path in (tmp_path / "home" / "runs").iterdir()) == sorted(job.id for job in whole)
