"""How a search is told while it runs, and what MLflow shows of it."""

import io

import pytest

from ablations.search import Tried
from orchestration.search.progress import SearchDisplay
from orchestration.tracking.search_records import search_info, tracked_report
from orchestration.tracking.tracker import Tracker
from reports.search.page import write_search_report
from reports.search.report import search_report
from tests.orchestration.fakes import write_trial
from tests.orchestration.search_fakes import made_search
from tests.orchestration.terminals import Terminal
from tests.trial.events import event


def test_lines_when_trials_end_and_every_few_seconds():
    stream, now = io.StringIO(), [0.0]
    with SearchDisplay(made_search(trials=6), 2, stream, lambda: now[0]) as lines:
        _hear_of_four_trials(lines, stream, now)
    assert stream.getvalue().count("\n") == 4


def test_a_terminal_has_a_bar_per_running_trial_and_one_for_the_search(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    terminal = Terminal()
    search = made_search(trials=6)
    with SearchDisplay(search, 2, terminal) as display:
        display.begin(Tried(0, 0.1, "running", "t0"))
        display.begin(Tried(1, 0.2, "running", "t1"))
        display(event("finished", "t0", 1200, 1200, 3.25, 100.0))
        display(event("point", "t1", 600, 1200, 3.5, 100.0))
    lines = terminal.drawn()
    assert "rate 0.1: 3.2500 validation nats (3/6; best of this run 3.2500 validation nats at 0.1)" in lines
    assert lines[-2].startswith("all trials ") and lines[-2].endswith(" 3/6 trials, ETA 0:30")
    assert lines[-1].startswith("rate 0.2 ") and lines[-1].endswith(
        " 600/1,200, 100/s, ETA 0:06, 3.500 validation nats"
    )


def _hear_of_four_trials(lines, stream, now):
    for number, rate in enumerate((0.1, 0.05, 0.9)):
        lines.begin(Tried(number, rate, "running", f"t{number}"))

    def tell(kind, trial, samples, nats=None, **values):
        lines(event(kind, trial, samples, 1200, nats, 100.0, **values))

    tell("point", "t0", 600, 3.5)
    tell("finished", "t0", 1200, 3.25)
    tell("point", "t1", 800, 3.9)
    tell("paused", "t1", 0)
    tell("failed", "t2", 0, message="Diverged: training loss is nan")
    tell("point", "another", 600, 3.0)
    best = "best of this run 3.2500 validation nats at 0.1"
    assert stream.getvalue().splitlines() == [
        f"rate 0.1: 3.2500 validation nats (3/6; {best})",
        f"rate 0.05: stopped at 800 samples, 3.9000 validation nats (4/6; {best})",
        f"rate 0.9: diverged: training loss is nan (5/6; {best})",
    ]
    lines.begin(Tried(3, 0.2, "running", "t3"))
    now[0] = 10.0
    tell("point", "t3", 400, 4.0)
    last = stream.getvalue().splitlines()[-1]
    assert last.startswith("lr-gonn-b5-smoke-starter-")
    assert ": 5/6 trials, ETA 0:08 | rate 0.2: 400/1,200, 100/s" in last


def test_trials_are_runs_below_one_parent_that_shows_the_rate(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    search = made_search(trials=6)
    trials = [f"{number:016x}" for number in range(6)]
    levels = {0.02: 3.2, 0.05: 3.03, 0.1: 3.0, 0.2: 3.04, 0.4: 3.3}
    tried = [
        Tried(number, rate, "done", trials[number], nats, {600: 4.0, 1200: nats})
        for number, (rate, nats) in enumerate(levels.items())
    ]
    tried.append(Tried(5, 0.9, "pruned", trials[5], None, {600: 5.0}))
    for trial in trials[:5]:
        write_trial(tmp_path / "runs" / trial, "done")
    tracker = Tracker(tmp_path, tmp_path / "runs", pytest.fail)
    tracker.follow(search_info(search, tried[:1]))
    write_trial(tmp_path / "runs" / trials[5], "paused")
    tracker.follow(search_info(search, tried))
    tracker.poll()
    files = write_search_report(search_report(search, tried), tmp_path / "out")
    assert tracker.finish(search_info(search, tried), tracked_report(files))
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name(search_info(search, ()).name)
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    parent = runs.pop("learning rate of gonn-b5")
    assert (
        len(runs) == 6
        and runs["s1000 rate 0.9"].info.status == "KILLED"
        and runs["s1000 rate 0.1"].info.status == "FINISHED"
    )
    assert {run.data.tags["mlflow.parentRunId"] for run in runs.values()} == {parent.info.run_id}
    assert parent.info.status == "FINISHED", "a trial that was given up leaves nothing to do"
    history = client.get_metric_history(parent.info.run_id, "search/best_validation_nats")
    assert [(point.step, point.value) for point in history] == [
        (1, 3.2),
        (2, 3.03),
        (3, 3.0),
        (4, 3.0),
        (5, 3.0),
        (6, 3.0),
    ]
    assert parent.data.metrics["search/best_rate"] == 0.1
    tags, numbers = parent.data.tags, parent.data.metrics
    assert 0.05 < numbers["best_rate"] < 0.2 and numbers["best_trial_validation_nats"] == 3.0
    assert tags["best_trial"] == trials[2] and tags["verdict"] == f"best rate {numbers['best_rate']:g}"
    assert experiment.tags["design"] == "search of a learning rate"
    assert "Best learning rate" in tags["mlflow.note.content"] and "optuna-dashboard" in tags["mlflow.note.content"]
    assert [file.path for file in client.list_artifacts(parent.info.run_id)] == ["figures", "report.md"]
    figures = [file.path for file in client.list_artifacts(parent.info.run_id, "figures")]
    assert figures == ["figures/figure.png", "figures/figure.svg"]
