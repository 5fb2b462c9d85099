"""A tracking server that dies, hangs, is down from the start or comes back: one line, no delay, and complete records
afterwards.

A real MLflow server answers behind a switch. The same with real trials is in test_kills.py.
"""

import os

import pytest

from orchestration.tracking import tracker as tracking
from orchestration.tracking.tracker import Tracker
from tests.orchestration.fakes import write_trial
from tests.orchestration.servers import Server, Switch, running
from tests.orchestration.tracking.test_tracker import REPORT, everything, study
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.system
TRIALS = ("c0", "t0")
AGAIN = "MLflow: its records are written again, nothing is missing"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(Server(tmp_path_factory.mktemp("server"))) as server:
        yield server


class Impatient(Switch):
    """Nobody waits longer than a second while it does not lead to the server, and as long as it takes while it does."""

    @property
    def mode(self) -> str:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        seconds = PATIENCE if mode == "on" else 1.0
        os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"] = str(int(seconds))  # the fixture puts it back
        tracking.SILENCE_SECONDS = seconds
        Switch.mode.fset(self, mode)


@pytest.fixture
def switch(server, monkeypatch):
    """Before the server."""
    switch = Impatient(server.port)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://user:secret@127.0.0.1:{switch.port}")
    for name, value in (
        ("MLFLOW_HTTP_REQUEST_TIMEOUT", "1"),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1"),
        ("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "0"),
        ("MLFLOW_HTTP_REQUEST_BACKOFF_JITTER", "0"),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tracking, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(tracking, "_LONGEST_PAUSE", 0.2)
    yield switch
    switch.mode = "down"


@pytest.fixture
def info(request):
    """A study of its own for each test."""
    return study(TRIALS, request.node.name.replace("[", "-").replace("]", ""))


def finish(root) -> None:
    for trial in TRIALS:
        write_trial(root / "runs" / trial, "done")


@pytest.fixture(scope="module")
def expected(server, tmp_path_factory):
    """What the records hold when nothing goes wrong."""
    root, patch = tmp_path_factory.mktemp("undisturbed"), pytest.MonkeyPatch()
    patch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{server.port}")
    finish(root)
    info = study(TRIALS, "undisturbed")
    assert Tracker(root, root / "runs", pytest.fail).sync([(info, REPORT)])
    patch.undo()
    found = everything(f"http://127.0.0.1:{server.port}", info)
    assert len(found) == 5 and {status for status, *_ in found.values()} == {"FINISHED"}
    return found


def test_what_a_server_missed_is_written_by_sync(server, switch, info, expected, tmp_path):
    said = []
    track = Tracker(tmp_path, tmp_path / "runs", said.append)
    switch.mode = "on"
    track.follow(info)
    with track.following(0.02):
        write_trial(tmp_path / "runs" / "c0", "running", points=1)
        wait_until(lambda: track._written)
        switch.mode = "deaf"
        finish(tmp_path)
        wait_until(lambda: said)
    assert not track.finish(info, REPORT)
    (line,) = said
    assert "secret" not in line and line.startswith(f"MLflow: cannot use http://***@127.0.0.1:{switch.port} (")
    switch.mode = "on"
    assert Tracker(tmp_path, tmp_path / "runs", pytest.fail).sync([(info, REPORT)])
    assert everything(f"http://127.0.0.1:{server.port}", info) == expected


def test_a_server_that_comes_back_gets_what_it_missed(server, switch, info, expected, tmp_path):
    said = []
    track = Tracker(tmp_path, tmp_path / "runs", said.append)  # the switch is "down"
    track.follow(info)
    with track.following(0.02):
        write_trial(tmp_path / "runs" / "c0", "running", points=1)
        wait_until(lambda: said)
        finish(tmp_path)
        switch.mode = "on"
        wait_until(lambda: len(said) == 2)
    assert said[1] == AGAIN and track.finish(info, REPORT) and len(said) == 2
    assert everything(f"http://127.0.0.1:{server.port}", info) == expected


def test_nobody_waits_for_a_round_that_hangs(server, switch, info, tmp_path, monkeypatch):
    """The server hangs in the middle of a round, and the client would wait for longer than anybody has."""
    said = []
    track = Tracker(tmp_path, tmp_path / "runs", said.append)
    switch.mode = "hangs"
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "60")
    track.follow(info)
    with track.following(0.02):
        wait_until(switch.heard.is_set)
        finish(tmp_path)
    assert not track.finish(info, REPORT)
    assert said == [f"MLflow: http://***@127.0.0.1:{switch.port} does not answer; `gonn sync` completes the records"]
    switch.mode = "down"  # and the thread in the background ends
