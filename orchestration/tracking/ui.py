"""`gonn ui`: the MLflow server on this machine, opened at a study.

`python -m orchestration.tracking.ui COMMAND …` runs a command that ends with the process that holds its stdin open.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path

from gonn_core.errors import SettingError, UserError
from gonn_core.metrics import CHARTS
from orchestration.tracking.client import ENVIRONMENT
from orchestration.tracking.records import TEST, curve_name
from orchestration.tracking.uri import page_of, redacted, tracking_uri

HOST = "127.0.0.1"
_START_SECONDS = 90
_KEY = "gonn"
_SECTION = {"uuid": "curves", "name": "Curves", "display": True, "isReordered": False, "isGenerated": True}
_CHART = {"type": "LINE", "metricSectionId": "curves", "xAxisKey": "step", "lineSmoothness": 0, "isGenerated": True}
VIEW = {
    f"mlflow.sharedViewState.{_KEY}": json.dumps(
        {
            "searchFilter": "tags.role = 'trial'",
            "orderByKey": "tags.`arm`",
            "orderByAsc": True,
            "runsHiddenMode": "SHOW_ALL",
            "groupBy": {"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": "arm"}]},
            "useGroupedValuesInCharts": False,
            "selectedColumns": ["tags.`arm`", "tags.`seed`", f"metrics.`{TEST['nats']}`", f"metrics.`{TEST['top1']}`"],
            "compareRunCharts": [
                {**_CHART, "uuid": name, "metricKey": name, "displayName": name} for name in map(curve_name, CHARTS)
            ],
            "compareRunSections": [_SECTION],
            "isAccordionReordered": True,
        }
    )
}
"""Tag of an experiment: the page that `gonn ui` opens, with a curve for each trial, in the colour of its arm. MLflow
keeps the view that a user shares in such a tag."""
CHARTS_PAGE = f"workflowType=machine_learning&compareRunsMode=CHART&viewStateShareKey={_KEY}"


def serve(root: Path, port: int, find: Callable[[], str | None], say: Callable[[str], None]) -> int:
    """Serve the records of the workspace at `root` until interrupted; says the address once it answers.

    find: the id of the experiment to open, None for none; called when the port is known to be free, and leaves a
    database with all its tables. With a tracking server elsewhere, says its address and returns. Raises SettingError
    for a port in use.
    """
    uri = tracking_uri(root)
    if uri.startswith("http"):
        say(_address(page_of(uri), find()))
        return 0
    _check_free(port)
    address = _address(f"http://{HOST}:{port}", find())
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri]
    command += ["--host", HOST, "--port", str(port), "--workers", "1"]
    command += ["--default-artifact-root", (root / "mlartifacts").resolve().as_uri(), "--no-serve-artifacts"]
    quiet = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", **ENVIRONMENT}
    quiet["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
    log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - the server writes to it as long as it runs
    server = subprocess.Popen(
        [sys.executable, "-m", __name__, *command],
        env=quiet,
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        _wait_until_it_answers(server, log, port)
        say(f"{address}  (Ctrl-C ends it)")
        if sys.stdout.isatty() and (
            sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        ):
            webbrowser.open(address)
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


_PACKAGES = Path(__file__).resolve().parents[2]
"""Where this package is found also from the server's working directory."""


def _address(base: str, experiment: str | None) -> str:
    return base if experiment is None else f"{base}/#/experiments/{experiment}/runs?{CHARTS_PAGE}"


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise SettingError(
                "PORT", port, f"cannot listen there ({error.strerror})", "a free port, such as PORT=5001"
            ) from None


def _wait_until_it_answers(server: subprocess.Popen, log, port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            log.seek(0)
            last = (log.read().strip().splitlines() or ["no message"])[-1]
            raise UserError(f"the MLflow server ended at once: {redacted(last)}")
        try:
            connection = http.client.HTTPConnection(HOST, port, timeout=2)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise UserError(f"the MLflow server did not answer within {_START_SECONDS} seconds")


def _run_while_wanted(command: list[str]) -> int:
    """Run a command in this process group, which is killed when stdin is closed: also when the parent is killed."""

    def end_with_the_parent() -> None:
        os.read(0, 1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_the_parent, daemon=True).start()
    return subprocess.call(command, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(_run_while_wanted(sys.argv[1:]))
