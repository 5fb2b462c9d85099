"""Pictures of the MLflow pages of a workspace: `python -m scripts.mlflow_pictures FOLDER [STUDY]`.

Starts `gonn ui` on the workspace (`GONN_HOME`), goes from the root page to a study, the latest unless the beginning of
an id is given, and writes root.png, list.png, charts.png, table.png, study.png and report.png. The picture in README is
charts.png of `results/`' study of the last moves. Needs Chromium with its driver.
"""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from orchestration.tracking.view import QUERY
from scripts.browser import browser, photograph

WIDTH, HEIGHT = 1280, 800
_PATIENCE = 300.0  # seconds
_QUIET = """document.head.insertAdjacentHTML("beforeend", "<style>.modebar-container{display:none}</style>");
const exit = [...document.querySelectorAll("button")].find(button => button.textContent === "Exit shared view");
if (exit) [...exit.closest("[role=alert], div[class]").parentElement.querySelectorAll("button")].at(-1).click();"""
"""Without Plotly's tools, which a browser without a mouse shows all the time, and the notice above the charts."""
_CHARTS = "return document.querySelectorAll('.js-plotly-plot .scatterlayer .js-line').length"


def take_pictures(folder: Path, study: str | None) -> None:
    """Write the pictures of a study's pages to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "orchestration.cli", "ui", "--port", str(port)]
    server = subprocess.Popen([*command, *(["--study", study] if study else [])], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = next((line.split()[0] for line in server.stdout if line.startswith("http")), "")
        found = re.search(r"(.*)/#/experiments/(\d+)/", address)
        if not found:
            raise SystemExit("gonn ui: no study to show")
        with browser(WIDTH, HEIGHT) as driver:
            _walk(driver, found[1], found[2], folder)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def _walk(driver: Any, base: str, experiment: str, folder: Path) -> None:
    """From the root page to the report of a study."""

    def picture(name: str) -> None:
        driver.execute_script(_QUIET)
        time.sleep(2)  # until what moves has come to rest
        photograph(driver, folder / name)
        shrink(folder / name)

    def go(place: str, there: Callable[[], object]) -> None:
        driver.get("about:blank")
        driver.get(f"{base}/#/{place}")
        _wait(there)

    def links(part: str) -> list:
        return driver.find_elements("xpath", f"//a[contains(@href, '{part}')]")

    go("", lambda: links("#/experiments/"))
    picture("root.png")
    go("experiments", lambda: links(f"#/experiments/{experiment}"))
    picture("list.png")
    go(f"experiments/{experiment}", lambda: driver.execute_script(_CHARTS))
    picture("charts.png")
    table = QUERY.replace("CHART", "TABLE")
    go(f"experiments/{experiment}/runs?{table}", lambda: links("/runs/"))
    picture("table.png")
    run = driver.execute_script(_STUDY_RUN, experiment)
    go(f"experiments/{experiment}/runs/{run}", lambda: "delta_test_nats" in driver.page_source)
    picture("study.png")
    go(f"experiments/{experiment}/runs/{run}/artifacts/report.html", lambda: driver.find_elements("tag name", "iframe"))
    picture("report.png")


_STUDY_RUN = """const request = new XMLHttpRequest();
request.open("POST", "ajax-api/2.0/mlflow/runs/search", false);
request.setRequestHeader("Content-Type", "application/json");
request.send(JSON.stringify({experiment_ids: [arguments[0]], filter: "tags.role = 'study'"}));
return JSON.parse(request.responseText).runs[0].info.run_id;"""


def _wait(there: Callable[[], object]) -> None:
    until = time.monotonic() + _PATIENCE
    while not there():
        if time.monotonic() > until:
            raise SystemExit(f"the page did not come within {_PATIENCE:g} s")
        time.sleep(0.2)


def shrink(path: Path) -> None:
    """A picture of a page has few colours: keep as many as it needs to look the same."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
