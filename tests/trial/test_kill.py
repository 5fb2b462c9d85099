"""kill -9 at any moment, and two processes with one job: the numbers of an undisturbed run, bit for bit."""

import json
import random
import signal
import time
from pathlib import Path

import pytest

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.trial.processes import TrialProcess

pytestmark = pytest.mark.system
SAMPLES = 1600


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    job = long_job(tmp_path_factory.mktemp("undisturbed"), 1000.0)
    run_trial(job)
    return Path(job.run.runs) / job.id


def long_job(runs, checkpoint_seconds):
    return tiny_job(
        runs, tiny_config(training__samples=SAMPLES), checkpoint_seconds=checkpoint_seconds, progress_points=8
    )


def reached(directory: TrialDirectory, samples: int) -> bool:
    return any(line["samples"] >= samples for line in directory.metrics())


def test_kill_at_random_moments(undisturbed, tmp_path):
    job = long_job(tmp_path, 0.05)
    directory = TrialDirectory(tmp_path / job.id)
    chance = random.Random(5)
    for samples in (200, 800, 1200):
        process = TrialProcess(job, tmp_path)
        process.wait_until(lambda samples=samples: reached(directory, samples))
        time.sleep(chance.random() * 0.1)
        process.kill()
        assert directory.state() in ("paused", "done")  # the dead hold no lease
    run_trial(job)
    from_samples = [session["from_samples"] for session in directory.config()["sessions"]]
    assert len(from_samples) >= 3 and from_samples == sorted(from_samples) and from_samples[-1] > 0
    assert_same_trial(undisturbed, directory.path)
    assert not list(tmp_path.rglob(".*.tmp"))


def test_two_processes_with_one_job(undisturbed, tmp_path):
    job = long_job(tmp_path, 0.05)
    directory = TrialDirectory(tmp_path / job.id)
    processes = [TrialProcess(job, tmp_path) for _ in range(2)]
    ends = [process.ended() for process in processes]
    assert [code for code, _, _ in ends] == [0, 0], ends
    results = [json.loads(out.splitlines()[-1]) for _, out, _ in ends]
    assert results[0] == results[1] and results[0]["state"] == "done"
    assert len(directory.config()["sessions"]) == 1
    assert_same_trial(undisturbed, directory.path)


def test_the_one_who_waits_goes_on_when_the_first_is_killed(undisturbed, tmp_path):
    job = long_job(tmp_path, 0.05)
    directory = TrialDirectory(tmp_path / job.id)
    process = TrialProcess(job, tmp_path)
    process.wait_until(directory.checkpoint.exists)
    process.send(signal.SIGSTOP)  # or it may be done before anyone waits for it

    def tell(event):
        if event.kind == "waiting":
            assert event.pid == process.pid
            process.kill()

    assert run_trial(job, tell)["state"] == "done"
    sessions = directory.config()["sessions"]
    assert len(sessions) == 2 and sessions[1]["from_samples"] > 0
    assert_same_trial(undisturbed, directory.path)


def test_sigterm_pauses(undisturbed, tmp_path):
    job = long_job(tmp_path, 1000.0)
    directory = TrialDirectory(tmp_path / job.id)
    process = TrialProcess(job, tmp_path)
    process.wait_until(directory.metrics)
    process.send(signal.SIGSTOP)  # or it may be done before it hears the next one
    process.send(signal.SIGTERM)
    process.send(signal.SIGCONT)
    code, out, err = process.ended()
    assert code == 130 and json.loads(out)["state"] == "paused", err
    assert directory.state() == "paused" and directory.checkpoint.exists()
    run_trial(job)
    assert_same_trial(undisturbed, directory.path)
