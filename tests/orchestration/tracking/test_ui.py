"""`gonn ui`: the server and its end, the address of a study, and what a browser shows there."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from gonn_core.errors import SettingError
from orchestration.cli import command as cli
from orchestration.reporting import open_ui
from orchestration.search.optuna_rates import keep_search
from orchestration.tracking import ui as mlflow_ui
from orchestration.tracking.records import search_info
from orchestration.tracking.tracker import Tracker
from orchestration.tracking.ui import CHARTS_PAGE, serve
from reports.workspace import Workspace
from tests.orchestration.fakes import write_trial
from tests.orchestration.search_fakes import made_search
from tests.orchestration.tracking.test_tracker import REPORT, study
from tests.paths import ROOT
from tests.waiting import PATIENCE


def test_a_server_elsewhere_is_only_named_and_never_with_what_lets_one_in(tmp_path, monkeypatch):
    uri, shown = "https://user:secret@mlflow.example:8443/base/?api_key=secret", "https://mlflow.example:8443/base"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    said = []
    assert serve(tmp_path, 5000, lambda: None, said.append) == serve(tmp_path, 5000, lambda: "7", said.append) == 0
    assert said == [shown, f"{shown}/#/experiments/7/runs?{CHARTS_PAGE}"]


@pytest.mark.system
def test_the_server_answers_at_the_study_and_ends_with_its_command(tmp_path, monkeypatch, mlflow_database):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "mlflow.db").write_bytes(mlflow_database.read_bytes())
    for trial in ("c0", "t0"):
        write_trial(tmp_path / "runs" / trial, "done")
    assert Tracker(tmp_path, tmp_path / "runs", pytest.fail).sync([(study(), REPORT)])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = f"""
from pathlib import Path
from orchestration.cli.command import terminable
from orchestration.tracking.ui import serve
with terminable():  # as in every command
    serve(Path({str(tmp_path)!r}), {port}, lambda: "1", lambda text: print(text, flush=True))
"""
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert line == f"http://127.0.0.1:{port}/#/experiments/1/runs?{CHARTS_PAGE}  (Ctrl-C ends it)\n"
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/api/2.0/mlflow/experiments/get?experiment_id=1"
        ) as answer:
            assert json.load(answer)["experiment"]["name"] == study().name
        for path, headers, data in (
            ("/", {"Host": "evil.example"}, None),
            ("/api/2.0/mlflow/experiments/create", {"Origin": "http://evil.example"}, b'{"name": "x"}'),
        ):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(request)
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    assert not os.environ.get("MLFLOW_TRACKING_URI")


@pytest.fixture
def opened(monkeypatch) -> list:
    """What the server would be opened at, time after time."""
    found: list = []
    monkeypatch.setattr(mlflow_ui, "serve", lambda root, port, find, say: found.append(find()) or 0)
    return found


def test_records_that_are_not_there_yet_are_made_first_and_it_opens_at_the_latest(
    tmp_path, monkeypatch, capsys, opened, mlflow_database
):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    (tmp_path / "mlflow.db").write_bytes(mlflow_database.read_bytes())
    search = keep_search(Workspace(tmp_path), made_search())
    assert cli.run(["ui"]) == 0
    said = capsys.readouterr()
    assert "MLflow's records of 1 of 1 studies and searches are made first" in said.err
    digits = search_info(search, ()).name.split()[0]  # as MLflow's list shows it
    assert cli.run(["ui", "--study", "lr-gonn-b5"]) == cli.run(["ui", "--study", digits]) == 0
    assert opened == ["1", "1", "1"]
    assert "made first" not in capsys.readouterr().err
    with pytest.raises(SettingError, match=f"STUDY=x: no such study or search; valid: {search.id}"):
        open_ui(5000, "x")
