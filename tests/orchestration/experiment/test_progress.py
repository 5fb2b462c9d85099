"""Displays of trials, after scripted events."""

import io

from orchestration.experiment.progress import StudyDisplay
from tests.orchestration.terminals import Terminal
from tests.trial.events import event

LABELS, TOTALS = {"a": "control s0", "b": "parametric_relu off s0"}, {"a": 1000, "b": 1000}


def after(kind: str, trial: str = "a", *values, **named) -> str:
    """The text of a trial's bar after one event."""
    display = StudyDisplay(LABELS, TOTALS, io.StringIO())
    display(event(kind, trial, *values, **named))
    return display.bars()[1].text


def test_plain_lines_come_at_most_every_five_seconds_and_hold_no_control_characters():
    now, out = [0.0], io.StringIO()
    with StudyDisplay(LABELS, TOTALS, out, lambda: now[0]) as display:
        for second in range(12):
            now[0] = float(second)
            display(event("tick", "a", 100 * second, 1000, 2.5, 100.0))
            display(event("tick", "b", 50 * second, 1000, None, 50.0))
        display(event("retried", "b", 0, 1000, None, None, message="the worker process was killed\x1b[31m"))
        display(event("finished", "a", 1000, 1000, None, None))
        display(event("failed", "b", 0, 1000, None, None, message="RuntimeError: the loss is not finite"))
    assert out.getvalue().splitlines() == [
        "all trials: 0/2 trials done, 35 % of samples, ETA 0:09"
        " | control s0: 500/1,000, 100/s, ETA 0:05, 2.500 validation nats"
        " | parametric_relu off s0: 200/1,000, 50/s, ETA 0:16",
        "all trials: 0/2 trials done, 72 % of samples, ETA 0:04"
        " | control s0: 1,000/1,000, 100/s, ETA 0:00, 2.500 validation nats"
        " | parametric_relu off s0: 450/1,000, 50/s, ETA 0:11",
        "parametric_relu off s0: retried: the worker process was killed\\x1b[31m",
        "parametric_relu off s0: failed: RuntimeError: the loss is not finite",
        "all trials: 1/2 trials done, 1 failed, 50 % of samples, ETA -:--",
    ]


def test_starting_waiting_and_evaluating_are_shown():
    assert after("begun", "a", 0, 1000, None, None) == "starting"
    assert "another command" in after("waiting", "a", 0, 1000)
    split = {"split": "test", "history": "full", "positions": 512, "of": 20000}
    assert after("evaluating", "b", 1000, 1000, None, None, **split) == "evaluating test 512/20,000"
    display = StudyDisplay(LABELS, TOTALS, io.StringIO())
    display(event("tick", "elsewhere", 1, 2, None, None))
    assert len(display.bars()) == 1


def test_a_terminal_has_a_bar_per_running_trial_and_one_for_the_study(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    out = Terminal()
    with StudyDisplay(LABELS, TOTALS, out) as display:
        display(event("tick", "b", 250, 1000, None, None))
        display(event("finished", "b", 1000, 1000, 2.75, None))
        display(event("tick", "a", 250, 1000, 2.5, 125.0))
    lines = out.drawn()
    assert "parametric_relu off s0: done, 2.750 validation nats" in lines
    study, trial = lines[-2:]
    assert study.startswith("all trials ") and study.endswith(" 1/2 trials done, 62 % of samples, ETA 0:06")
    assert trial.startswith("control s0 ") and trial.endswith(" 250/1,000, 125/s, ETA 0:06, 2.500 validation nats")


def test_the_time_left_does_not_double_while_one_of_two_trials_begins():
    display = StudyDisplay(dict.fromkeys("abc", "one"), dict.fromkeys("abc", 1000), io.StringIO())
    for trial in "ab":
        display(event("tick", trial, 500, 1000, None, 100.0))
    assert "ETA 0:10" in display.summary
    display(event("finished", "b", 1000, 1000, None, None))
    assert "ETA 0:08" in display.summary  # 1,500 samples left, 200 a second
    display(event("begun", "c", 0, 1000, None, None))
    assert "ETA 0:08" in display.summary
    display(event("finished", "a", 1000, 1000, None, None))
    display(event("tick", "c", 500, 1000, None, 100.0))
    assert "ETA 0:05" in display.summary  # alone


def test_a_retried_trial_goes_back():
    display = StudyDisplay({"a": "one"}, {"a": 1000}, io.StringIO())
    display(event("tick", "a", 240, 1000, None, 100.0))
    assert display.bars()[1].text == "240/1,000, 100/s, ETA 0:08" and display.bars()[0].done == 240
    display(event("retried", "a", 200, 1000, None, None, message="died"))
    assert display.bars()[0].done == 200
