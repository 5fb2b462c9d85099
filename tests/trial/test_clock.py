"""What a trial's seconds went into."""

from types import SimpleNamespace

import pytest

from gonn_core.trial import session as module
from gonn_core.trial.session import Clock


def test_steps_that_a_device_has_still_to_do_count_as_training(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now[0], process_time=lambda: now[0]))
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
