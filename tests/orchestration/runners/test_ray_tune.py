"""The Ray runner: deaths and failures as the local one, nothing printed, nothing left behind, equal weights."""

import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gonn_core.trial.directory import TrialDirectory
from orchestration.runners import ray_runner
from orchestration.runners.local import LocalRunner
from orchestration.runners.ray_runner import RayRunner
from tests.orchestration.fakes import fake_job
from tests.orchestration.runners.test_local import RUN_FAKE, attempts
from tests.paths import ROOT
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import PATIENCE, alive, wait_until


@pytest.mark.system
@pytest.mark.xdist_group("ray")
def test_trials_reuse_processes_and_a_dead_one_costs_one_attempt(tmp_path, capfd, monkeypatch):
    folders, make = [], tempfile.mkdtemp
    monkeypatch.setattr(
        tempfile, "mkdtemp", lambda *args, **options: folders.append(make(*args, **options)) or folders[-1]
    )
    jobs = [
        fake_job(tmp_path, seed, behaviour)
        for seed, behaviour in enumerate(["", "dies once", "raises", "", "dies", "user error", ""])
    ]
    events = []

    def ask():
        yield from jobs
        yield jobs[0]

    outcomes = RayRunner(function=RUN_FAKE).run(ask(), 2, events.append)
    assert [outcome.trial for outcome in outcomes] == [job.id for job in jobs]
    assert [outcome.state for outcome in outcomes] == ["done", "done", "failed", "done", "failed", "failed", "done"]
    assert [len(attempts(tmp_path, job)) for job in jobs] == [1, 2, 1, 1, 2, 1, 1]
    assert outcomes[2].error == "RuntimeError: the loss is not finite" and "in run_fake" in outcomes[2].traceback
    assert outcomes[4].error == "the worker process died, 2 times"
    assert (outcomes[5].error, outcomes[5].traceback) == ("STORE=/nowhere: no such folder", "")
    told = [event.kind for event in events if event.trial == jobs[1].id]
    assert told == ["begun", "retried", "begun", "started", "point", "point", "finished"]
    processes = [line[0] for job in jobs for line in attempts(tmp_path, job)]
    assert len(set(processes)) < len(processes), "processes are used again"
    assert {line[1] for job in jobs for line in attempts(tmp_path, job)} == {"1"}
    assert capfd.readouterr() == ("", "")
    assert folders and not any(map(os.path.exists, folders)) and "RAY_AUTH_TOKEN" not in os.environ
    assert not Path("~/ray_results").expanduser().exists() and not Path("~/.ray").expanduser().exists()


@pytest.mark.system
@pytest.mark.xdist_group("ray")
def test_a_trial_is_paused_when_told_so(tmp_path):
    jobs = [fake_job(tmp_path, 0, "goes on until told"), fake_job(tmp_path, 1)]
    outcomes = RayRunner(function=RUN_FAKE).run(jobs, 1, lambda event: event.kind != "tick")
    assert [outcome.state for outcome in outcomes] == ["paused", "done"]


@pytest.mark.system
@pytest.mark.xdist_group("ray")
def test_both_runners_give_equal_weights(tmp_path):
    configs = [
        tiny_config(training__init_seed=seed, training__data_seed=seed, net__activation=kind)
        for seed in (0, 1)
        for kind in ("relu", "prelu")
    ]
    outcomes = {}
    for name, runner in (("local", LocalRunner()), ("ray", RayRunner())):
        jobs = [tiny_job(tmp_path / name, config) for config in configs]
        outcomes[name] = runner.run(jobs, 2, lambda event: None)
    assert outcomes["local"] == outcomes["ray"] and {outcome.state for outcome in outcomes["ray"]} == {"done"}
    for outcome in outcomes["local"]:
        assert_same_trial(tmp_path / "local" / outcome.trial, tmp_path / "ray" / outcome.trial)


@pytest.mark.system
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes under /proc")
@pytest.mark.parametrize(
    "runner",
    [
        pytest.param("local import LocalRunner", id="local"),
        pytest.param("ray_runner import RayRunner", id="ray", marks=pytest.mark.xdist_group("ray")),
    ],
)
def test_a_killed_driver_leaves_no_worker_and_the_same_command_gives_the_uninterrupted_weights(tmp_path, runner):
    whole = tiny_job(tmp_path / "whole", tiny_config(training__samples=8000))
    LocalRunner().run([whole], 1, lambda event: None)
    job = tiny_job(tmp_path / "cut", tiny_config(training__samples=8000), checkpoint_seconds=0.1)
    (tmp_path / "job.json").write_text(job.model_dump_json())
    command = f"""
import os
from pathlib import Path
from gonn_core.trial.job import read_job
from orchestration.runners.{runner} as Runner
if __name__ == "__main__":
    for outcome in Runner().run([read_job(Path({str(tmp_path / "job.json")!r}))], 1, lambda event: None):
        print(outcome.state)
"""
    folder = TrialDirectory(tmp_path / "cut" / job.id)
    driver = subprocess.Popen([sys.executable, "-c", command], cwd=ROOT)
    wait_until(lambda: folder.checkpoint.exists() and folder.state() == "running", driver, progress=folder.metrics)
    worker = holder(folder)
    driver.send_signal(signal.SIGKILL)
    driver.wait(PATIENCE)
    wait_until(lambda: not alive(worker))
    assert folder.state() == "paused"
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("done\n", "")
    assert_same_trial(tmp_path / "whole" / job.id, tmp_path / "cut" / job.id)


@pytest.mark.system
def test_a_killed_worker_is_replaced_and_the_weights_are_the_uninterrupted_ones(tmp_path):
    config = tiny_config(training__samples=8000)
    whole, cut = tiny_job(tmp_path / "whole", config), tiny_job(tmp_path / "cut", config, checkpoint_seconds=0.1)
    LocalRunner().run([whole], 1, lambda event: None)
    folder, told = TrialDirectory(tmp_path / "cut" / cut.id), []

    def on_event(event):
        if event.kind == "point" and "retried" not in told:
            os.kill(holder(folder), signal.SIGKILL)
        told.append(event.kind)

    (outcome,) = LocalRunner().run([cut], 1, on_event)
    assert outcome.state == "done" and told.count("retried") == 1
    assert_same_trial(tmp_path / "whole" / cut.id, tmp_path / "cut" / cut.id)


def holder(folder: TrialDirectory) -> int:
    from gonn_core.trial.lease import live_holder

    return live_holder(folder.path).process.pid


def test_what_killed_commands_left_is_removed(tmp_path, monkeypatch):
    """Folders in /tmp and on a cluster, of this machine's commands that have ended."""
    monkeypatch.setattr(ray_runner, "TMP", tmp_path)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here, runs = platform.node(), tmp_path / "runs"
    left = [tmp_path / f"gonn-ray-{gone.pid}-a", runs / f".gonn-ray-{gone.pid}-{here}-b"]
    kept = [
        tmp_path / f"gonn-ray-{os.getpid()}-c",
        runs / f".gonn-ray-{os.getpid()}-{here}-d",
        runs / f".gonn-ray-{gone.pid}-another-e",
    ]
    for folder in (*left, *kept):
        folder.mkdir(parents=True)
    ray_runner._remove_leftovers(runs)
    assert not any(folder.exists() for folder in left) and all(folder.exists() for folder in kept)
