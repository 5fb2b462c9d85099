"""How a search is shown while it runs, and in MLflow."""

import itertools

import pytest

from ablations.search import Tried
from orchestration.search.experiment import SearchExperiment
from orchestration.tracking.records import search_info
from orchestration.tracking.reported import tracked_search
from orchestration.tracking.tracker import Tracker
from reports.search.page import write_search_report
from reports.search.report import search_report
from reports.workspace import Workspace
from tests.orchestration.fakes import write_trial
from tests.orchestration.search_fakes import made_search, settings
from tests.trial.events import event


def test_the_display_counts_trials_that_are_still_to_come(tmp_path, capsys):
    search = made_search(trials=6)
    experiment = SearchExperiment(Workspace(tmp_path), search, settings(tmp_path / "runs"), None)
    with experiment.opened(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("orchestration.search.experiment.warm_kernels", lambda *_: None)
        assert experiment.prepare(str)
        with experiment.display() as hear:
            first, second = itertools.islice(experiment.jobs(list), 2)
            hear(event("failed", first.id, 400, 1200, message="Diverged: training loss is nan"))
            hear(event("point", second.id, 600, 1200, 3.5, 100.0))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("rate ") and "Diverged" in lines[0]
    assert lines[-1].startswith("all trials: 0/6 trials done, 1 failed, ")


def test_trials_are_runs_below_one_parent_that_shows_the_rate(tmp_path, monkeypatch, mlflow_database):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "mlflow.db").write_bytes(mlflow_database.read_bytes())
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
    assert tracker.finish(search_info(search, tried), tracked_search(files))
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name(search_info(search, ()).name)
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    parent = runs.pop("learning rate of gonn-b5")
    assert len(runs) == 6 and runs["rate 0.9, seed 1000"].info.status == "KILLED"
    assert runs["rate 0.1, seed 1000"].info.status == "FINISHED"
    assert {run.data.tags["mlflow.parentRunId"] for run in runs.values()} == {parent.info.run_id}
    assert parent.info.status == "FINISHED", "a trial that was given up leaves nothing to do"
    tags, numbers = parent.data.tags, parent.data.metrics
    assert 0.05 < numbers["best_rate"] < 0.2 and numbers["best_trial_validation_nats"] == 3.0
    assert tags["best_trial"] == trials[2] and tags["verdict"] == f"best rate {numbers['best_rate']:g}"
    assert experiment.tags["design"] == "search of a learning rate"
    assert "Best learning rate" in tags["mlflow.note.content"] and "optuna-dashboard" in tags["mlflow.note.content"]
    assert [file.path for file in client.list_artifacts(parent.info.run_id)] == ["figures", "report.md"]
    figures = [file.path for file in client.list_artifacts(parent.info.run_id, "figures")]
    assert figures == ["figures/figure.png", "figures/figure.svg"]
