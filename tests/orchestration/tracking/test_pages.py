"""MLflow's page with our script at its head: what is changed on the way, and what a person then sees in a browser."""

import asyncio
import importlib.metadata
import json
import signal
import socket
import subprocess
import sys

import pytest

from orchestration.tracking import pages, view
from orchestration.tracking.pages import FrontPage, plugin, script
from orchestration.tracking.tracker import Tracker
from reports.figures.style import COLOURS
from tests.browser import browser, needs_browser
from tests.orchestration.fakes import write_trial
from tests.orchestration.tracking.test_tracker import REPORT, study
from tests.paths import ROOT
from tests.waiting import PATIENCE, wait_until

STROKES = """return [...document.querySelectorAll(".js-plotly-plot .scatterlayer .js-line")]
    .map(line => getComputedStyle(line).stroke)"""
"""Colours of the lines of all charts."""
PAGE = b"<!doctype html><html><head><title>MLflow</title></head></html>"


def answer(path="/", method="GET", status=200, body=PAGE, headers=()) -> tuple[dict, bytes, list]:
    """What a request gets: the start of the answer, its body; and the headers that the application was asked with."""
    asked, sent = [], []

    async def application(scope, receive, send):
        asked.extend(scope["headers"])
        head = [(b"content-length", b"%d" % len(body)), (b"etag", b"1"), (b"x-frame-options", b"SAMEORIGIN")]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body[:20], "more_body": True})
        await send({"type": "http.response.body", "body": body[20:]})

    async def receive():
        return {"type": "http.request"}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": list(headers)}
    asyncio.run(FrontPage(application)(scope, receive, send))
    return sent[0], b"".join(message.get("body", b"") for message in sent[1:]), asked


def test_the_first_page_has_our_script_before_all_others():
    start, body, asked = answer(headers=[(b"host", b"127.0.0.1"), (b"if-none-match", b"1")])
    assert body == PAGE.replace(b"<head>", b"<head>" + script()) and asked == [(b"host", b"127.0.0.1")]
    headers = dict(start["headers"])
    assert headers.pop(b"content-length") == b"%d" % len(body)
    assert headers == {b"cache-control": b"no-store", b"x-frame-options": b"SAMEORIGIN"}
    assert json.loads(script().split(b"const GONN = ")[1].split(b";\n")[0]) == {
        "view": view.QUERY,
        "shared": view.TAG,
        "colours": view.COLOURS_TAG,
    }


@pytest.mark.parametrize(
    "request_", [{"path": "/api/2.0/x"}, {"method": "POST"}, {"status": 403, "body": b"Invalid Host header, no more"}]
)
def test_everything_else_is_as_mlflow_says_it(request_):
    start, body, _ = answer(**request_)
    assert body == request_.get("body", PAGE) and start["status"] == request_.get("status", 200)
    assert (b"etag", b"1") in start["headers"]


def test_a_server_is_told_of_the_pages_without_anything_being_installed(tmp_path):
    path = plugin(tmp_path)
    assert path.split(":")[0] == str(tmp_path) and path.split(":")[1] == str(ROOT)
    (found,) = [each for each in importlib.metadata.distributions(path=[str(tmp_path)])]
    (entry,) = found.entry_points
    assert (entry.group, entry.name) == ("mlflow.app", pages.NAME) and entry.load() is pages.application
    assert not importlib.metadata.entry_points(group="mlflow.app", name=pages.NAME)


@needs_browser
@pytest.mark.system
@pytest.mark.xdist_group("server")
def test_from_the_root_page_one_comes_to_a_chart_of_nats_by_arm(tmp_path, monkeypatch):
    """And an experiment of somebody else opens as MLflow opens it."""
    from mlflow import MlflowClient

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    trials = ("c0", "t0", "c1", "t1")
    for trial in trials:
        write_trial(tmp_path / "runs" / trial, "done", points=5)
    info = study(trials)
    assert Tracker(tmp_path, tmp_path / "runs", pytest.fail).sync([(info, REPORT)])
    MlflowClient(f"sqlite:///{tmp_path}/mlflow.db").create_experiment("of somebody else")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = f"""
from pathlib import Path
from orchestration.cli.signals import terminable
from orchestration.tracking.ui import serve
with terminable():
    serve(Path({str(tmp_path)!r}), {port}, lambda: None, lambda text: print(text, flush=True))
"""
    server = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == f"http://127.0.0.1:{port}  (Ctrl-C ends it)\n"
        with browser() as driver:
            driver.get(f"http://127.0.0.1:{port}/")
            click(driver, "//a[contains(@href, '#/experiments')][not(contains(@href, '#/experiments/'))]")
            click(driver, f"//a[@data-testid='experiment-list-item-link'][normalize-space()='{info.name}']")
            ours = {rgb(colour) for colour in COLOURS[:2]}
            wait_until(lambda: ours <= set(driver.execute_script(STROKES)), pause=0.1)
            assert view.QUERY in driver.current_url
            shown = driver.find_element("tag name", "body").text
            assert "validation_nats" in shown and "Group: control" in shown and "Group: +parametric_relu" in shown
            driver.refresh()
            wait_until(lambda: ours <= set(driver.execute_script(STROKES)), pause=0.1)
            click(driver, "//a[contains(@href, '#/experiments')][not(contains(@href, '#/experiments/'))]")
            click(driver, "//a[@data-testid='experiment-list-item-link'][normalize-space()='of somebody else']")
            wait_until(lambda: "#/experiments/2/" in driver.current_url, pause=0.1)
            assert "viewStateShareKey" not in driver.current_url
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))})"


def click(driver, path: str) -> None:
    """Click on the first of the elements there, once one is."""
    from selenium.common.exceptions import WebDriverException

    def done() -> bool:
        try:
            driver.find_elements("xpath", path)[0].click()
        except (IndexError, WebDriverException):  # not there yet, or drawn anew in between
            return False
        return True

    wait_until(done, pause=0.1)
