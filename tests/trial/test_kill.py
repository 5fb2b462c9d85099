"""kill -9 at any moment, and two processes with one job: the numbers of an undisturbed run, bit for bit."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from tests.paths import ROOT
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.system
SAMPLES = 4000


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    job = long_job(tmp_path_factory.mktemp("undisturbed"), 1000.0)
    run_trial(job)
    return Path(job.run.runs) / job.id


def long_job(runs, checkpoint_seconds):
    return tiny_job(
        runs, tiny_config(training__samples=SAMPLES), checkpoint_seconds=checkpoint_seconds, progress_points=8
    )


def start(job, folder):
    """The job in a process of its own."""
    path = folder / "job.json"
    path.write_text(job.model_dump_json())
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "gonn_core.trial", str(path)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_kill_at_random_moments(undisturbed, tmp_path):
    job = long_job(tmp_path, 0.05)
    directory = TrialDirectory(tmp_path / job.id)
    chance = random.Random(5)
    for reached in (500, 2000, 3000):
        process = start(job, tmp_path)
        wait_until(lambda: any(line["samples"] >= reached for line in directory.metrics()), process)
        time.sleep(chance.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert directory.state() in ("paused", "done")  # the dead hold no lease
    run_trial(job)
    from_samples = [session["from_samples"] for session in directory.config()["sessions"]]
    assert len(from_samples) >= 3 and from_samples == sorted(from_samples) and from_samples[-1] > 0
    assert_same_trial(undisturbed, directory.path)
    assert not list(tmp_path.rglob(".*.tmp"))


def test_two_processes_with_one_job(undisturbed, tmp_path):
    job = long_job(tmp_path, 0.05)
    directory = TrialDirectory(tmp_path / job.id)
    processes = [start(job, tmp_path) for _ in range(2)]
    texts = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], texts
    results = [json.loads(out.splitlines()[-1]) for out, _ in texts]
    assert results[0] == results[1] and results[0]["state"] == "done"
    assert len(directory.config()["sessions"]) == 1
    assert_same_trial(undisturbed, directory.path)


def test_the_one_who_waits_goes_on_when_the_first_is_killed(undisturbed, tmp_path):
    job = long_job(tmp_path, 0.05)
    directory = TrialDirectory(tmp_path / job.id)
    process = start(job, tmp_path)
    wait_until(lambda: directory.checkpoint.exists(), process)

    def tell(event):
        if event.kind == "waiting":
            assert event.pid == process.pid
            process.kill()

    assert run_trial(job, tell)["state"] == "done"
    process.communicate()
    sessions = directory.config()["sessions"]
    assert len(sessions) == 2 and sessions[1]["from_samples"] > 0
    assert_same_trial(undisturbed, directory.path)


def test_sigterm_pauses(undisturbed, tmp_path):
    job = long_job(tmp_path, 1000.0)
    directory = TrialDirectory(tmp_path / job.id)
    process = start(job, tmp_path)
    wait_until(lambda: directory.metrics(), process)
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE)
    if process.returncode == 0:
        pytest.skip("it was done before it heard the signal")
    assert process.returncode == 130 and json.loads(out)["state"] == "paused", err
    assert directory.state() == "paused" and directory.checkpoint.exists()
    run_trial(job)
    assert_same_trial(undisturbed, directory.path)
