"""One trial's bar: steps, parts of steps, the expected end."""

import io

from orchestration.experiment.progress import StudyProgress, describe
from orchestration.experiment.trial_bar import TrialBar
from tests.orchestration.terminals import Terminal
from tests.trial.events import event


def test_a_terminal_has_a_bar_with_steps_parts_and_the_expected_end(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    out = Terminal()
    with TrialBar("abc", 1000, out, lambda: 0.0) as shown:
        assert shown(event("started", "abc", 0, 1000, None, None, device="cpu", resumed=0))
        shown(event("tick", "abc", 240, 1000, None, 100.0, step=6.25, steps=25))
        (bar,) = shown.bars()
        assert (bar.done, bar.total) == (250, 1000)
        assert bar.text == "240/1,000, step 6.25/25, 100/s, ETA 0:08"
        shown(event("point", "abc", 280, 1000, 5.5, 100.0, train_nats=5.7))
    text = out.getvalue()
    assert "starts on cpu" in text and "5.5000 validation nats  5.7000 train nats" in text


def test_elsewhere_there_are_plain_lines():
    out = io.StringIO()
    with TrialBar("abc", 1000, out) as shown:
        shown(event("tick", "abc", 240, 1000, None, 100.0, step=6.0, steps=25, seconds_left=8.0, train_nats=5.0))
    assert out.getvalue() == "abc  240/1,000 samples  step 6/25  100/s  5.0000 train nats  0:00:08 left\n"


def test_parts_count_in_a_study_too():
    study = StudyProgress("T", {"a": "one"}, {"a": 1000})
    line = study.hear(event("tick", "a", 240, 1000, None, 100.0, step=6.5, steps=25))
    assert describe(line) == "one: 240/1,000, step 6.50/25, 100/s, ETA 0:07" and study.share == 0.26
    study.hear(event("retried", "a", 200, 1000, None, None, message="died"))
    assert study.share == 0.2
