"""What MLflow shows of a study, asked through its own client."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import filelock
import pytest

from gonn_core.errors import SettingError
from orchestration.tracking.records import ArmReport, StudyInfo, StudyReport, TrackedTrial
from orchestration.tracking.tracker import Tracker, redacted
from tests.orchestration.fakes import write_trial
from tests.paths import ROOT
from tests.waiting import PATIENCE, wait_until

CONTROL, TREATED = "gonn-b5, seed 0", "with parametric_relu, seed 0"
REPORT = StudyReport(
    "parametric_relu: helps\n\n| arm | nats |\n|---|---|\n| control | 2.531 |",
    tags={"verdict.parametric_relu": "helps"},
    verdict="helps",
    metrics={"delta_test_nats.parametric_relu": -0.021, "q.parametric_relu": 0.01},
    arms={
        "gonn-b5": ArmReport({"seeds": 1, "test_nats": 2.6}),
        "with parametric_relu": ArmReport({"seeds": 1, "delta_test_nats": -0.021, "q": 0.01}, {"verdict": "helps"}),
    },
    trials={"c0": {"test_nats": 2.6}, "t0": {"test_nats": 2.579, "delta_test_nats": -0.021}},
)


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture
def root(tmp_path, mlflow_database):
    (tmp_path / "mlflow.db").write_bytes(mlflow_database.read_bytes())
    return tmp_path


def study(trials=("c0", "t0"), name="parametric_relu-gonn-b5-cpu-starter-1a2b3c") -> StudyInfo:
    arms = {"c": "gonn-b5", "t": "with parametric_relu"}
    tracked = tuple(TrackedTrial(trial, arms[trial[0]], int(trial[1])) for trial in trials)
    return StudyInfo(
        name,
        "Parametric ReLU",
        tracked,
        {"base": "gonn-b5", "budget": "cpu", "data": "starter", "thresholds.delta": "0.002", "design": "add-one"},
        "abc123",
        True,
        arms=("gonn-b5", "with parametric_relu"),
    )


def tracker(root) -> Tracker:
    return Tracker(root, root / "runs", pytest.fail)


def runs_of(place, info=None) -> dict:
    """Runs of a study by name, the client and the experiment. place: a workspace's folder, or a server's address."""
    from mlflow import MlflowClient

    client = MlflowClient(place if isinstance(place, str) else f"sqlite:///{place / 'mlflow.db'}")
    experiment = client.get_experiment_by_name((info or study()).name)
    runs = client.search_runs([experiment.experiment_id])
    assert len({run.info.run_name for run in runs}) == len(runs), "a run that is there twice"
    return {run.info.run_name: run for run in runs} | {"client": client, "experiment": experiment}


def everything(place, info=None) -> dict[str, tuple]:
    """Runs of a study by name: status, params, metrics with their histories, artifacts with their sizes. Without
    checkpoints, of which studies that share a trial store one."""
    runs = runs_of(place, info)
    client, _ = runs.pop("client"), runs.pop("experiment")
    return {
        name: (
            run.info.status,
            run.data.params,
            {
                metric: [(point.step, point.value) for point in client.get_metric_history(run.info.run_id, metric)]
                for metric in run.data.metrics
            },
            sorted(
                (file.path, file.file_size)
                for file in client.list_artifacts(run.info.run_id)
                if file.path != "checkpoint.safetensors"
            ),
        )
        for name, run in runs.items()
    }


def test_a_finished_study_has_a_parent_and_a_run_per_trial(root, tmp_path):
    figure = tmp_path / "forest.png"
    figure.write_bytes(b"\x89PNG")
    page = tmp_path / "report.html"
    page.write_text("<html></html>")
    for trial in ("c0", "t0"):
        write_trial(root / "runs" / trial, "done")
    track = tracker(root)
    track.follow(study())
    assert track.finish(study(), replace(REPORT, files={"report.html": page, "figures/forest.png": figure}))
    runs = runs_of(root)
    parent, child = runs["Parametric ReLU"], runs[TREATED]
    arms = runs["gonn-b5"], runs["with parametric_relu"]
    assert set(runs) == {"Parametric ReLU", *study().arms, CONTROL, TREATED, "client", "experiment"}
    shown = {"verdict": "helps", "base": "gonn-b5", "budget": "cpu", "data": "starter", "design": "add-one"}
    assert shown.items() <= parent.data.tags.items() and shown.items() <= runs["experiment"].tags.items()
    assert parent.data.tags["verdict.parametric_relu"] == "helps"
    assert parent.data.tags["mlflow.note.content"] == runs["experiment"].tags["mlflow.note.content"] == REPORT.note
    assert parent.data.params["thresholds.delta"] == "0.002" and parent.data.metrics == REPORT.metrics
    assert (parent.info.status, child.info.status) == ("FINISHED", "FINISHED")
    assert [file.path for file in runs["client"].list_artifacts(parent.info.run_id)] == ["figures", "report.html"]

    for arm, trial in zip(arms, (runs[CONTROL], child), strict=True):
        assert arm.data.tags["mlflow.parentRunId"] == parent.info.run_id and arm.info.status == "FINISHED"
        assert trial.data.tags["mlflow.parentRunId"] == arm.info.run_id
        assert arm.data.metrics == REPORT.arms[arm.info.run_name].metrics
    assert arms[1].data.tags["verdict"] == "helps" and "verdict" not in arms[0].data.tags
    tags = {
        "trial": "t0",
        "arm": "with parametric_relu",
        "seed": "0",
        "commit": "abc123",
        "dirty": "true",
        "view": "0" * 20,
        "version.torch": "2.13",
    }
    assert tags.items() <= child.data.tags.items()
    assert child.data.params == {"net.trunk.dilations": "[2, 3]"}, "the settings that are not the default"
    assert {name for name in child.data.metrics if "/" not in name} == {
        "validation_nats",
        "validation_top1",
        "validation_top4",
        "train_nats",
        "samples_per_s",
        "test_nats",
        "delta_test_nats",
    }
    assert child.data.metrics["delta_test_nats"] == -0.021
    assert "delta_test_nats" not in runs[CONTROL].data.metrics
    (point,) = runs["client"].get_metric_history(child.info.run_id, "test_nats")
    assert (point.step, point.value) == (20, 2.579)
    history = runs["client"].get_metric_history(child.info.run_id, "validation_nats")
    assert [(point.step, point.value) for point in history] == [(10, 5.4), (20, 5.3)]
    assert [file.path for file in runs["client"].list_artifacts(child.info.run_id)] == [
        "checkpoint.safetensors",
        "config.json",
        "result.json",
    ]


def test_points_are_live_while_a_trial_runs_and_none_is_logged_twice(root):
    track, other = tracker(root), tracker(root)
    track.follow(study())
    other.follow(study())
    track.poll()
    other.poll()
    assert set(runs_of(root)) == {"Parametric ReLU", "client", "experiment"}
    write_trial(root / "runs" / "t0", "running", points=1)
    track.poll()
    runs = runs_of(root)
    assert runs[TREATED].info.status == "RUNNING" and runs["Parametric ReLU"].info.status == "RUNNING"
    other.poll()
    write_trial(root / "runs" / "t0", "running", points=2)
    other.poll()
    track.poll()
    run = runs_of(root)[TREATED]
    assert [point.step for point in runs["client"].get_metric_history(run.info.run_id, "validation_nats")] == [10, 20]


def test_sync_repairs_runs_left_running_and_a_second_sync_changes_nothing(root, mlflow_database):
    track = tracker(root)
    track.follow(study())
    write_trial(root / "runs" / "c0", "running")
    write_trial(root / "runs" / "t0", "running", points=1)
    track.poll()
    write_trial(root / "runs" / "c0", "paused")  # both commands are killed
    write_trial(root / "runs" / "t0", "failed")
    tracker(root).sync([(study(), None)])
    runs = runs_of(root)
    assert {name: runs[name].info.status for name in (CONTROL, TREATED)} == {CONTROL: "KILLED", TREATED: "FAILED"}
    assert runs["Parametric ReLU"].info.status == "FAILED"
    assert runs[TREATED].data.tags["error"] == "RuntimeError: the loss is not finite"
    for trial in ("c0", "t0"):
        write_trial(root / "runs" / trial, "done")
    tracker(root).sync([(study(), REPORT)])
    first = everything(root)
    assert {status for status, *_ in first.values()} == {"FINISHED"}
    tracker(root).sync([(study(), REPORT)])
    assert everything(root) == first
    (root / "mlflow.db").write_bytes(mlflow_database.read_bytes())
    tracker(root).sync([(study(), REPORT)])
    assert set(everything(root)) == set(first), "a deleted database is rebuilt"


def test_a_run_that_was_made_twice_is_kept_once(root):
    """As by a request that was carried out, but answered too late."""
    write_trial(root / "runs" / "c0", "done")
    assert tracker(root).sync([(study(("c0",)), REPORT)])
    runs = runs_of(root)
    twin = runs["client"].create_run(
        runs["experiment"].experiment_id, tags={"trial": "c0", "role": "trial"}, run_name="twin"
    )
    assert tracker(root).sync([(study(("c0",)), REPORT)])
    assert runs["client"].get_run(twin.info.run_id).info.lifecycle_stage == "deleted"
    assert set(runs_of(root)) == set(runs)


def test_a_shared_control_has_a_run_in_each_study_and_its_checkpoint_is_stored_once(root):
    one, second = study(("c0",)), study(("c0",), "ladder_input-gonn-b5-cpu-starter-9f8e7d")
    write_trial(root / "runs" / "c0", "done")
    for _ in range(2):
        assert tracker(root).sync([(one, REPORT), (second, REPORT)])
    first, other = runs_of(root), runs_of(root, second)
    stored, shared = first[CONTROL], other[CONTROL]
    assert len(list((root / "mlartifacts").rglob("checkpoint.safetensors"))) == 1
    here = f"runs:/{stored.info.run_id}/checkpoint.safetensors"
    assert stored.data.tags["checkpoint"] == shared.data.tags["checkpoint"] == here
    files = [[file.path for file in first["client"].list_artifacts(run.info.run_id)] for run in (stored, shared)]
    assert files == [["checkpoint.safetensors", "config.json", "result.json"], ["config.json", "result.json"]]
    # The study that stores it is thrown away: the other one does then.
    first["client"].delete_experiment(first["experiment"].experiment_id)
    assert tracker(root).sync([(second, REPORT)])
    shared = runs_of(root, second)[CONTROL]
    assert shared.data.tags["checkpoint"] == f"runs:/{shared.info.run_id}/checkpoint.safetensors"
    assert "checkpoint.safetensors" in [file.path for file in first["client"].list_artifacts(shared.info.run_id)]


PROGRAM = """
import sys
from pathlib import Path
from tests.orchestration.tracking.test_tracker import study, REPORT
from orchestration.tracking.tracker import Tracker
root = Path(sys.argv[1])
raise SystemExit(not Tracker(root, root / "runs", print).sync([(study(), REPORT)]))
"""


def syncing(root) -> subprocess.Popen:
    """A process that writes the study of `root`."""
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(root)], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.system
def test_two_processes_that_write_at_once_leave_one_run_per_trial(root):
    for trial in ("c0", "t0"):
        write_trial(root / "runs" / trial, "done")
    writers = [syncing(root) for _ in range(2)]
    assert [(*writer.communicate(timeout=PATIENCE), writer.returncode) for writer in writers] == [("", None, 0)] * 2
    runs = runs_of(root)
    assert len(runs["client"].search_runs([runs["experiment"].experiment_id])) == 5
    history = runs["client"].get_metric_history(runs[CONTROL].info.run_id, "validation_nats")
    assert [point.step for point in history] == [10, 20]


def test_following_skips_rounds_while_another_process_writes_and_catches_up(root):
    track, study_ = tracker(root), study()  # whose warnings would fail the test
    track.follow(study_)
    track.poll()
    with track.following(0.02):
        with filelock.FileLock(root / "mlflow.db.lock"):
            write_trial(root / "runs" / "c0", "running")
            track.poll()
            assert CONTROL not in runs_of(root)
        wait_until(lambda: track._written.get((study_.id, study_.trials[0]), (None,))[0] == "running")
    assert CONTROL in runs_of(root)


def test_a_server_that_is_down_costs_one_line_and_no_secret(root, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://user:secret@127.0.0.1:{port}")
    write_trial(root / "runs" / "c0", "done")
    said = []
    track = Tracker(root, root / "runs", said.append)
    track.follow(study())
    track.poll()
    assert not track.finish(study(), REPORT)
    assert len(said) == 1 and "secret" not in said[0] and f"http://***@127.0.0.1:{port}" in said[0]
    assert said[0].endswith("`gonn sync` completes the records") and "\n" not in said[0]


def test_a_copied_workspace_writes_nothing_into_the_folder_it_came_from(root, tmp_path_factory):
    write_trial(root / "runs" / "c0", "done")
    assert tracker(root).sync([(study(("c0",)), REPORT)])
    copy = tmp_path_factory.mktemp("copy") / "workspace"
    shutil.copytree(root, copy)
    before = {path: path.read_bytes() for path in (root / "mlartifacts").rglob("*") if path.is_file()}
    page = root / "report.html"
    page.write_text("another page")
    changed = StudyReport("another page", files={"report.html": page})
    for _ in range(2):  # the second time finds what the first one made
        assert tracker(copy).sync([(study(("c0",)), changed)])
    assert {path: path.read_bytes() for path in (root / "mlartifacts").rglob("*") if path.is_file()} == before
    found = runs_of(copy)
    assert found["experiment"].artifact_location == (copy / "mlartifacts" / study().id).as_uri()
    assert (
        Path(found["client"].download_artifacts(found["Parametric ReLU"].info.run_id, "report.html")).read_text()
        == "another page"
    )
    assert set(found) == {CONTROL, "gonn-b5", "Parametric ReLU", "client", "experiment"}


@pytest.mark.parametrize("spoil", ["no database", "no lock"])
def test_records_that_cannot_be_used_cost_one_line(root, spoil):
    if spoil == "no database":
        (root / "mlflow.db").write_bytes(b"no database" * 1000)
    else:
        (root / "mlflow.db.lock").mkdir()
    said = []
    broken = Tracker(root, root / "runs", said.append)
    broken.follow(study())
    broken.poll()
    assert not broken.finish(study(), REPORT)
    assert (
        len(said) == 1
        and said[0].startswith(f"MLflow: cannot use sqlite:///{root}/mlflow.db (")
        and "\n" not in said[0]
    )


def test_a_damaged_trial_does_not_end_the_following_of_the_others(root):
    said = []
    watching = Tracker(root, root / "runs", said.append)
    watching.follow(study(("c0",)))
    write_trial(root / "runs" / "c0", "done")
    (root / "runs" / "c0" / "metrics.jsonl").write_text("no JSON")
    watching.poll()
    assert len(said) == 1 and "metrics.jsonl: not lines of JSON" in said[0]
    write_trial(root / "runs" / "c0", "done")
    watching.poll()
    assert runs_of(root)[CONTROL].info.status == "FINISHED"


def test_links_in_a_trial_that_was_brought_here_are_not_followed(root):
    write_trial(root / "runs" / "c0", "done")
    (root / "secret").write_text("secret")
    (root / "runs" / "c0" / "checkpoint.safetensors").unlink()
    (root / "runs" / "c0" / "checkpoint.safetensors").symlink_to(root / "secret")
    assert tracker(root).sync([(study(("c0",)), REPORT)])
    assert not [path for path in (root / "mlartifacts").rglob("*") if path.is_file() and path.read_bytes() == b"secret"]


@pytest.mark.parametrize(
    "uri, problem",
    [
        ("ftp://me:secret@host/x", "not a tracking server or data base"),
        ("postgresql+nosuch://me:secret@host/x", "not a data base that can be used"),
        ("postgresql+psycopg2://me:secret@host:port/x", "not a data base that can be used"),
        ("postgresql+psycopg2://me:secret@host/x", "its driver psycopg2 is not installed"),
    ],
)
def test_bad_uris_are_refused_at_once(root, monkeypatch, uri, problem):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with pytest.raises(SettingError) as refused:
        Tracker(root, root / "runs", print)
    assert refused.value.setting == "MLFLOW_TRACKING_URI" and problem in str(refused.value)
    assert "://***@host" in str(refused.value) and "secret" not in str(refused.value)


def test_secrets_are_redacted():
    assert (
        redacted("postgresql://h/d?user=me&password=secret&sslmode=require")
        == "postgresql://h/d?user=me&password=***&sslmode=require"
    )
    assert redacted("at postgresql://u:p@h/d and\x1b http://x") == "at postgresql://***@h/d and\\x1b http://x"


def test_telemetry_is_off(root):
    tracker(root).sync([])
    from mlflow.telemetry.utils import is_telemetry_disabled

    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true" and is_telemetry_disabled()


def tables(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as records:
            return records.execute("select count(*) from sqlite_master where type = 'table'").fetchone()[0]
    except sqlite3.Error:
        return 0


@pytest.mark.system
def test_a_command_that_is_killed_while_it_makes_the_database_leaves_none(tmp_path):
    """At several moments, one after the other in the same workspace."""
    write_trial(tmp_path / "runs" / "c0", "done")
    making = tmp_path / "mlflow.db.making"
    for least in (1, 20):
        making.unlink(missing_ok=True)
        sync = syncing(tmp_path)
        wait_until(lambda least=least: tables(making) >= least, sync, pause=0.01)
        sync.send_signal(signal.SIGKILL)
        sync.communicate()
        assert not (tmp_path / "mlflow.db").exists()
    last = syncing(tmp_path)
    assert last.communicate(timeout=PATIENCE)[0] == "" and last.returncode == 0
    assert runs_of(tmp_path)[CONTROL].info.status == "FINISHED" and not list(tmp_path.glob("*.making*"))
