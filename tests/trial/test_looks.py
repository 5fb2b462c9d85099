"""Which lines of metrics look at validation games; what counts as training time."""

from types import SimpleNamespace

import pytest

from gonn_core.trial import session as session_module
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import RunSettings, last_look
from gonn_core.trial.run import run_trial
from gonn_core.trial.session import Clock
from tests.trial.helpers import tiny_config, tiny_job


def test_every_second_line_and_the_last_one_look(tmp_path):
    job = tiny_job(tmp_path, tiny_config(training__samples=240), progress_points=3, look_every=2)
    result, lines = run_trial(job), TrialDirectory(tmp_path / job.id).metrics()
    assert ["nats" in line for line in lines] == [True, False, True] and [line["looks"] for line in lines] == [1, 1, 2]
    assert lines[2]["nats"] == result["nats"] == last_look(lines)
    assert last_look(lines[:2]) == lines[0]["nats"] and last_look([]) is None


def test_looks_are_counted_from_the_end():
    made = RunSettings(store="", progress_view="0" * 20)
    assert made.looks == 12 and made.model_copy(update={"look_every": 5}).looks == 3
    assert made.model_copy(update={"progress_view": None}).looks == 0


def test_steps_that_a_device_has_still_to_do_count_as_training(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(
        session_module, "time", SimpleNamespace(perf_counter=lambda: now[0], process_time=lambda: now[0])
    )
    waits = []

    def catch_up():
        waits.append(now[0])
        now[0] += 3.0

    clock = Clock({"training_seconds": 5.0}, catch_up)
    clock.start_training()
    now[0] = 10.0
    with clock.aside():
        assert clock.training_seconds == 18.0, "five before, ten of the host, three that the device had still to do"
        now[0] += 100.0
    now[0] += 1.0
    clock.stop_training()
    assert waits == [10.0, 114.0] and clock.training_seconds == pytest.approx(22.0)
    clock.stop_training()
    assert len(waits) == 2, "no steps are under way: there is nothing to wait for"
