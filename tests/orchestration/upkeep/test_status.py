"""`gonn status`: trials by state, what runs and for how long, what failed; on directories made by hand."""

import os

import pytest
from rich.console import Console

from ablations.search import Tried
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import this_process
from orchestration.experiment.pipeline import record_failure
from orchestration.experiment.stopping import at_work
from orchestration.search.optuna_rates import keep_search, search_folder
from orchestration.upkeep import status as status_view
from orchestration.upkeep.status import ExperimentState, TrialState, print_status, search_state, study_state
from reports.workspace import Workspace
from tests.orchestration.fakes import write_trial
from tests.orchestration.search_fakes import made_search
from tests.reports.made_studies import fail_trial, finish_trial, plan_study


@pytest.fixture
def home(tmp_path, monkeypatch) -> Workspace:
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    return Workspace(tmp_path)


@pytest.fixture
def study(home):
    """Four trials: done, running, failed with a traceback, and one whose process died twice."""
    made = plan_study(home.root, "parametric_relu", seeds=(1, 2))
    done, running, failed, died = made.study.trials
    finish_trial(made, done, 0.0)
    write_trial(home.runs / running.trial, "running", points=2)
    fail_trial(made, failed, "Diverged: training loss is nan at 300 samples")
    record_failure(TrialDirectory(home.runs / died.trial), "the worker process was killed by SIGKILL, 2 times")
    return made.study


def test_trials_of_a_study(home, study):
    done, running, failed, died = study_state(home, study).trials
    assert done.state == "done" and done.samples == done.total == 5120
    assert (running.state, running.samples, running.rate) == ("running", 20, 50.0)
    assert running.where.startswith(f"{os.getpid()} on ")
    assert (failed.state, failed.error) == ("failed", "Diverged: training loss is nan at 300 samples")
    assert (died.state, died.error) == ("failed", "the worker process was killed by SIGKILL, 2 times")


def test_time_left_counts_all_that_is_to_come_at_the_rate_of_those_at_work():
    def trial(state, samples=0, rate=None):
        return TrialState("x", "x", state, 1000, samples, rate)

    now = ExperimentState(
        "s",
        "study",
        (
            trial("done", 1000),
            trial("running", 500, 10.0),
            trial("running"),
            trial("waiting"),
            trial("paused", 200),
            trial("failed"),
        ),
    )
    assert now.rate == 10.0 and now.seconds_left == (500 + 1000 + 1000 + 800) / 20
    assert ExperimentState("s", "study", (trial("waiting"),)).seconds_left is None


def test_a_search_counts_rates_given_up_and_rates_to_come(home, monkeypatch):
    search = keep_search(home, made_search(trials=6))
    tried = [
        Tried(0, 0.01, "done", "a" * 16, 2.5, {}),
        Tried(1, 0.9, "diverged", "b" * 16, None, {}),
        Tried(2, 0.5, "pruned", "c" * 16, None, {}),
        Tried(3, 0.2, "running", "d" * 16, None, {}),
    ]
    monkeypatch.setattr(status_view, "tried_rates", lambda workspace, search: tried)
    (home.runs / ("a" * 16)).mkdir(parents=True)
    (home.runs / ("a" * 16) / "result.json").write_text("{}")
    write_trial(home.runs / ("d" * 16), "paused", points=2)
    counts = search_state(home, search).counts
    assert counts == {"done": 1, "given up": 2, "paused": 1, "waiting": 2}
    assert search_folder(home, search.id).exists()


def test_what_is_missing_or_damaged_of_a_search_is_named(home, capsys, caplog):
    search = keep_search(home, made_search(trials=6))
    folder = search_folder(home, search.id)
    assert printed(capsys)[1].split() == [search.id, "0/6", "6"]
    assert f"{folder}/journal.log: it is missing; no rates are known; the same `gonn search run`" in caplog.text
    (folder / "search.json").rename(folder / "another file")
    printed(capsys)
    assert f"{folder}/search.json: it is missing; it is left out" in caplog.text


def printed(capsys) -> list[str]:
    print_status()
    return capsys.readouterr().out.splitlines()


def test_in_a_pipe_every_line_is_whole_and_made_of_words_alone(home, study, capsys):
    lines = printed(capsys)
    assert lines[0].split() == ["study", "done", "running", "failed", "samples/s", "ETA"]
    assert lines[1].split()[:4] == [study.id, "1/4", "1", "2"] and lines[1].split()[4] == "50"
    assert lines[2].split() == ["running", "trial", "samples", "of", "per", "s", "ETA", "validation", "nats", "process"]
    assert lines[3].split()[-3:] == [str(os.getpid()), "on", this_process().machine.split("/")[0]]
    failed = study.trials[2].trial
    assert lines[4:] == [
        f"failed in {study.id}",
        f"  {study.arm(study.trials[2].arm).label} s2: Diverged: training loss is nan at 300 samples; "
        f"traceback: runs/{failed}/failure.json",
        f"  {study.arm(study.trials[3].arm).label} s2: the worker process was killed by SIGKILL, 2 times",
    ]


def test_eighty_columns_are_enough(home, study, monkeypatch, capsys):
    monkeypatch.setattr(
        status_view,
        "output",
        lambda: Console(width=80, force_terminal=True, color_system=None, markup=False, emoji=False, highlight=False),
    )
    monkeypatch.setattr(status_view.sys.stdout, "isatty", lambda: True, raising=False)
    lines = printed(capsys)
    assert max(map(len, lines)) <= 80 and not any("…" in line for line in lines)


def test_commands_at_work_are_told(home, study, capsys):
    with at_work(home, study.id):
        assert f"at work: {study.id} (process {os.getpid()} on " in "\n".join(printed(capsys))
