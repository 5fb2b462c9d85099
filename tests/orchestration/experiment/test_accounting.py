"""How much of the slots' time was training, and what is left of a trial whose process was killed."""

import pytest

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease
from orchestration.experiment.pipeline import SlotTime, record_failure
from orchestration.runners.local import LocalRunner
from tests.orchestration.fakes import fake_job, write_trial
from tests.trial.events import event


def hear(times: SlotTime, kind: str, trial: str = "a", **values) -> None:
    times.hear(event(kind, trial, 0, 100, None, None, **values))


def test_earlier_sessions_and_attempts_that_died_do_not_count_twice():
    now = iter((0.0, 20.0))
    times = SlotTime(lambda: next(now))
    hear(times, "begun")
    hear(times, "started", training_seconds=100.0)
    hear(times, "tick", training_seconds=105.0)
    hear(times, "retried", message="died")
    hear(times, "begun")
    hear(times, "begun", "b")
    hear(times, "started", training_seconds=103.0)
    hear(times, "waiting", "b")
    hear(times, "point", training_seconds=108.0)
    hear(times, "failed", message="Diverged: nan")
    hear(times, "finished", "b")
    assert (times.slots, times.training) == (2, 10.0)
    line = times.line
    assert "2 slots x 0:20" in line and "25.0 %" in line


def test_without_a_trial_there_is_no_share():
    assert "0 slots" in SlotTime().line


def test_a_real_runner(tmp_path):
    times, jobs = SlotTime(), [fake_job(tmp_path, 0), fake_job(tmp_path, 1, "dies"), fake_job(tmp_path, 2)]
    LocalRunner("tests.orchestration.fakes:run_fake").run(jobs, 2, times.hear)
    assert times.slots == 2 and times.training >= 0


@pytest.mark.parametrize("state", ["new", "paused"])
def test_a_trial_that_was_killed_has_failed(tmp_path, state):
    directory = TrialDirectory(tmp_path / "a")
    if state == "paused":
        write_trial(directory.path, "paused", points=1)
    assert directory.state() == state
    record_failure(directory, "the worker process was killed by SIGKILL, 2 times")
    assert directory.state() == "failed"
    assert directory.failure()["error"] == "the worker process was killed by SIGKILL, 2 times"


def test_what_a_trial_wrote_itself_stays_and_so_does_a_trial_of_another_command(tmp_path):
    directory = TrialDirectory(tmp_path / "a")
    directory.create()
    with Lease.take(directory.path) as lease:
        record_failure(directory, "killed")
        assert directory.failure() is None
        directory.write_failure("ValueError: own", "trace", lease)
    record_failure(directory, "killed")
    assert directory.failure()["error"] == "ValueError: own"
