"""Workers of this machine: reuse, failures, deaths of workers and of the driver."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gonn_core.errors import SettingError
from orchestration.runners import gpus
from orchestration.runners.gpus import Gpus, Places, places
from orchestration.runners.local import LocalRunner
from tests.orchestration.fakes import fake_job
from tests.paths import ROOT
from tests.waiting import PATIENCE, alive, wait_until

RUN_FAKE = "tests.orchestration.fakes:run_fake"


def attempts(folder, job) -> list[list[str]]:
    return [line.split() for line in (folder / job.id / "attempts").read_text().splitlines()]


def run(jobs, slots=2):
    events = []
    return LocalRunner(RUN_FAKE).run(jobs, slots, events.append), events


def test_trials_reuse_one_process_per_slot_with_one_thread_each(tmp_path):
    jobs = [fake_job(tmp_path, seed) for seed in range(6)]
    outcomes, events = run(jobs)
    assert [outcome.state for outcome in outcomes] == ["done"] * 6
    assert [outcome.trial for outcome in outcomes] == [job.id for job in jobs]
    ran = [attempts(tmp_path, job) for job in jobs]
    assert all(len(lines) == 1 for lines in ran)
    assert 1 <= len({lines[0][0] for lines in ran}) <= 2
    assert {lines[0][1] for lines in ran} == {"1"}
    first = [event for event in events if event.trial == outcomes[0].trial]
    assert [event.kind for event in first] == ["begun", "started", "point", "point", "finished"]
    assert (first[3].samples, first[3].nats, first[3].samples_per_s) == (20, 5.3, 50.0)


def test_a_trial_named_twice_runs_once(tmp_path):
    outcomes, _ = run([fake_job(tmp_path, 1), fake_job(tmp_path, 1)])
    assert len(outcomes) == 1 and len(attempts(tmp_path, fake_job(tmp_path, 1))) == 1


def test_jobs_of_one_trial_that_ask_for_different_things_are_refused(tmp_path):
    with pytest.raises(ValueError, match="different run settings"):
        run([fake_job(tmp_path, 1), fake_job(tmp_path, 1, "raises")])


def test_a_failed_trial_shows_its_traceback_and_the_others_run(tmp_path):
    jobs = [fake_job(tmp_path, 0, "raises"), fake_job(tmp_path, 1), fake_job(tmp_path, 2, "user error")]
    jobs.append(fake_job(tmp_path, 3, "no memory"))
    (failed, done, refused, short), events = run(jobs, slots=1)
    assert failed.state == "failed" and failed.error == "RuntimeError: the loss is not finite"
    assert "in run_fake" in failed.traceback
    assert done.state == "done"
    assert refused.error == "STORE=/nowhere: no such folder" and refused.traceback == ""
    assert short.error == "out of memory (Unable to allocate 9.17 MiB)" and short.traceback == ""
    assert [event.kind for event in events if event.trial == failed.trial] == ["begun", "failed"]
    assert attempts(tmp_path, jobs[0])[0][0] != attempts(tmp_path, jobs[1])[0][0], (
        "a process that failed is not used again"
    )


def test_a_killed_worker_fails_no_other_trial_and_its_own_is_retried_once(tmp_path):
    jobs = [
        fake_job(tmp_path, 0, "dies once"),
        fake_job(tmp_path, 1),
        fake_job(tmp_path, 2, "dies"),
        fake_job(tmp_path, 3, "exits"),
    ]
    outcomes, events = run(jobs)
    assert [outcome.state for outcome in outcomes] == ["done", "done", "failed", "failed"]
    assert [len(attempts(tmp_path, job)) for job in jobs] == [2, 1, 2, 2]
    assert outcomes[2].error == "the worker process was killed by SIGKILL, 2 times"
    assert outcomes[3].error == "the worker process ended with code 7, 2 times"
    assert [event.kind for event in events if event.trial == outcomes[0].trial] == [
        "begun",
        "retried",
        "begun",
        "started",
        "point",
        "point",
        "finished",
    ]


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes under /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_driver_and_the_same_command_carries_on(tmp_path, how):
    jobs = [fake_job(tmp_path, 0, "hangs once"), fake_job(tmp_path, 1, "hangs once")]
    command = f"""
from tests.orchestration.fakes import fake_job
from orchestration.runners.local import LocalRunner
if __name__ == "__main__":
    jobs = [fake_job({str(tmp_path)!r}, seed, "hangs once") for seed in (0, 1)]
    LocalRunner({RUN_FAKE!r}).run(jobs, 2, print)
"""
    driver = subprocess.Popen(
        [sys.executable, "-c", command], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    files = [tmp_path / job.id / "attempts" for job in jobs]
    wait_until(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files), driver)
    workers = [int(attempts(tmp_path, job)[0][0]) for job in jobs]
    assert all(map(alive, workers))
    driver.send_signal(how)
    driver.wait(PATIENCE)
    wait_until(lambda: not any(map(alive, workers)))
    outcomes, _ = run(jobs)
    assert [outcome.state for outcome in outcomes] == ["done", "done"]


def test_a_trial_is_paused_when_told_so_and_jobs_are_asked_for_one_by_one(tmp_path):
    told = []

    def ask():
        for seed in range(3):
            told.append(f"asked for {seed}")
            yield fake_job(tmp_path, seed, "goes on until told")

    def on_event(event):
        if event.kind != "tick":
            told.append(event.kind)
        return event.kind != "tick"

    outcomes = LocalRunner(RUN_FAKE).run(ask(), 1, on_event)
    assert [outcome.state for outcome in outcomes] == ["paused"] * 3
    assert told == [*(word for seed in range(3) for word in (f"asked for {seed}", "begun", "started", "paused"))]
    assert run([fake_job(tmp_path, 0, "goes on until told")])[0][0].state == "done"


def test_places(tmp_path, monkeypatch):
    jobs = [fake_job(tmp_path, seed) for seed in range(8)]
    cores = min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    assert places(jobs, 3) == Places(3)
    assert places(jobs[:2], 5) == Places(2)
    assert places(jobs, None) == Places(cores), "a trial per core"
    with pytest.raises(SettingError) as error:
        places(jobs, 0)
    assert error.value.setting == "SLOTS"
    monkeypatch.setattr(gpus, "visible_gpus", lambda: Gpus(("2",)))
    assert places(jobs, None) == Places(1, ("2",), 1) and places(jobs, 3) == Places(3, ("2",), 3)
    assert places(jobs, None, per_gpu=2) == Places(2, ("2",), 2) and places(jobs, 1, per_gpu=2).slots == 1
    assert places(jobs, 9, per_gpu=2).slots == 2
    assert places(jobs, None, "cpu") == Places(cores)


def test_gpus_are_dealt_in_turn():
    two = Places(4, ("0", "3"), 2)
    assert [two.gpu(slot) for slot in range(4)] == ["0", "3", "0", "3"]
    assert Places(2).gpu(1) is None


def test_jobs_that_wait_for_others_are_asked_for_again(tmp_path):
    ended = []

    def jobs():
        yield from (fake_job(tmp_path, 0), fake_job(tmp_path, 1))
        while len(ended) < 2:
            yield None
        yield fake_job(tmp_path, 2)

    outcomes = LocalRunner(RUN_FAKE).run(
        jobs(), 2, lambda event: ended.append(event.trial) if event.kind == "finished" else None
    )
    assert [outcome.trial for outcome in outcomes] == [fake_job(tmp_path, seed).id for seed in range(3)]
    assert ended[2:] == [fake_job(tmp_path, 2).id]
