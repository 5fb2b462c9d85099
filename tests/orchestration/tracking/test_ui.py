"""Serving the records: one line for a port in use, the study's address."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from gonn_core.errors import SettingError
from orchestration.cli import command as cli
from orchestration.reporting.ui import open_ui
from orchestration.search.folder import keep_search
from orchestration.tracking import ui as mlflow_ui
from orchestration.tracking import view as mlflow_view
from orchestration.tracking.tracker import Tracker
from orchestration.tracking.ui import serve
from reports.workspace import Workspace
from tests.orchestration.fakes import write_trial
from tests.orchestration.search_fakes import made_search
from tests.orchestration.tracking.test_tracker import REPORT, study
from tests.paths import ROOT
from tests.waiting import PATIENCE


def test_a_port_in_use_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingError) as refused:
            serve(tmp_path, tmp_path / "runs", port, None, print)
    assert (
        str(refused.value)
        == f"PORT={port}: cannot listen there (Address already in use); valid: a free port, such as PORT=5001"
    )


def test_a_server_elsewhere_is_only_named_and_never_with_its_password(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://user:secret@mlflow.example:8443/base/")
    said = []
    assert serve(tmp_path, tmp_path / "runs", 5000, None, said.append) == 0
    assert said == ["https://mlflow.example:8443/base"]


def test_the_view_starts_with_nats_over_samples():
    state = json.loads(mlflow_view.view_state())
    assert [chart["metricKey"] for chart in state["compareRunCharts"]][0] == "nats"
    assert {chart["xAxisKey"] for chart in state["compareRunCharts"]} == {"step"} and len(
        mlflow_view.view_state()
    ) < 5000


@pytest.mark.system
@pytest.mark.xdist_group("server")
def test_the_server_answers_at_the_study_and_ends_with_its_command(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    for trial in ("c0", "t0"):
        write_trial(tmp_path / "runs" / trial, "done")
    assert Tracker(tmp_path, tmp_path / "runs", pytest.fail).sync([(study(), REPORT)])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = f"""
from pathlib import Path
from orchestration.tracking.ui import serve
root = Path({str(tmp_path)!r})
serve(root, root / "runs", {port}, {study().id!r}, lambda text: print(text, flush=True))
"""
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert line == f"http://127.0.0.1:{port}/#/experiments/1/runs?{mlflow_view.QUERY}  (Ctrl-C ends it)\n"
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/api/2.0/mlflow/experiments/get?experiment_id=1"
        ) as answer:
            assert json.load(answer)["experiment"]["name"] == study().id
    finally:
        server.send_signal(signal.SIGTERM)  # as Ctrl-C does
        assert server.wait(PATIENCE) == 0
    with socket.create_server(("127.0.0.1", port)):
        pass
    assert not os.environ.get("MLFLOW_TRACKING_URI")


def test_it_opens_at_a_search_too_and_without_a_name_at_the_latest(tmp_path, monkeypatch):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    search, opened = keep_search(Workspace(tmp_path), made_search()), []
    monkeypatch.setattr(mlflow_ui, "serve", lambda root, runs, port, study, say: opened.append(study) or 0)
    assert cli.run(["ui"]) == cli.run(["ui", "--study", "lr-gonn-b5"]) == 0 and opened == [search.id] * 2
    with pytest.raises(SettingError, match=f"STUDY=x: no such study or search; valid: {search.id}"):
        open_ui(5000, "x")
