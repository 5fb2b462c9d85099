"""Where a study's time went: scripted events on a clock of the test's own."""

import pytest

from orchestration.experiment.accounting import Account, AccountedRunner, Spent, add_session, last_failures, sessions
from orchestration.runners.local import LocalRunner
from tests.orchestration.fakes import fake_job
from tests.trial.events import event


class Script:
    """An account that hears events at given seconds."""

    def __init__(self):
        self.now = 0.0
        self.account = Account(lambda: self.now)

    def at(self, second, kind, trial="a", **values):
        self.now = float(second)
        self.account.hear(event(kind, trial, 0, 100, None, None, **values))
        return self

    def close(self, second) -> Spent:
        self.now = float(second)
        return self.account.close()


def test_one_slot():
    script = (
        Script()
        .at(1, "begun")
        .at(4, "started", training_seconds=0.0)
        .at(10, "tick", training_seconds=5.0)
        .at(20, "point", training_seconds=14.0)
    )
    script.at(21, "evaluating").at(25, "finished")
    assert script.close(26) == Spent(slots=1, wall=26.0, training=14.0, evaluation=7.0, start=4.0, waiting=1.0)


def test_a_slot_without_a_trial_waits_and_so_does_a_trial_of_another_command():
    script = Script().at(0, "begun").at(0, "begun", "b").at(2, "started", training_seconds=0.0).at(2, "waiting", "b")
    script.at(10, "point", training_seconds=8.0).at(10, "finished").at(12, "finished", "b")
    assert script.close(12) == Spent(slots=2, wall=12.0, training=8.0, evaluation=0.0, start=4.0, waiting=12.0)


def test_earlier_sessions_and_attempts_that_died_are_told_apart():
    script = Script().at(0, "begun").at(1, "started", training_seconds=100.0).at(6, "tick", training_seconds=105.0)
    script.at(7, "retried", message="died").at(7, "begun").at(9, "started", training_seconds=103.0).at(
        14, "point", training_seconds=108.0
    ).at(14, "failed", message="Diverged: nan")
    spent = script.close(14)
    assert (spent.training, spent.start, spent.evaluation) == (10.0, 3.0, 1.0) and script.account.errors == {
        "a": "Diverged: nan"
    }


def test_a_runner_that_never_gets_a_trial_to_work_was_starting():
    assert Script().at(5, "begun").close(7) == Spent(
        slots=1, wall=7.0, training=0.0, evaluation=0.0, start=7.0, waiting=0.0
    )
    assert (
        Script().close(3).line == "time: 0 slots x 0:03: training 0:00 (0.0 %), evaluation 0:00 (0.0 %), "
        "start-up 0:00 (0.0 %), waiting 0:00 (0.0 %)"
    )


def test_the_line():
    assert (
        Spent(2, 100.0, 178.0, 14.0, 6.0, 2.0).line
        == "time: 2 slots x 1:40: training 2:58 (89.0 %), evaluation 0:14 (7.0 %), "
        "start-up 0:06 (3.0 %), waiting 0:02 (1.0 %)"
    )


def test_a_real_runner_is_accounted_for_in_full_and_noted(tmp_path):
    folder = tmp_path / "study"
    jobs = [fake_job(tmp_path / "runs", 0), fake_job(tmp_path / "runs", 1, "dies"), fake_job(tmp_path / "runs", 2)]
    engine = AccountedRunner(LocalRunner("tests.orchestration.fakes:run_fake"), folder)
    engine.run(jobs, 2, lambda event: None)
    spent = engine.spent
    assert spent.slots == 2 and spent.start > 0
    assert spent.training + spent.evaluation + spent.start + spent.waiting == pytest.approx(2 * spent.wall)
    ((trial, failure),) = last_failures(folder).items()
    assert (trial, failure.error) == (
        jobs[1].id,
        "the worker process was killed by SIGKILL, 2 times",
    ) and failure.unix_time > 0
    (session,) = sessions(folder)
    assert session["seconds"]["slots"] == 2 and set(session["errors"]) == {job.id for job in jobs}


def test_an_error_is_forgotten_once_the_trial_was_begun_again(tmp_path):
    add_session(tmp_path, {"unix_time": 1.0, "errors": {"a": "died", "b": None}})
    assert last_failures(tmp_path) == {"a": ("died", 1.0)}
    add_session(tmp_path, {"unix_time": 2.0, "errors": {"a": None}})
    assert last_failures(tmp_path) == {} and len(sessions(tmp_path)) == 2
