"""`gonn ui`: the MLflow server on this machine, opened at a study."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from gonn_core.errors import SettingError, UserError
from orchestration.tracking.client import ENVIRONMENT
from orchestration.tracking.records import CHARTS_PAGE
from orchestration.tracking.tracker import redacted, tracking_uri

HOST = "127.0.0.1"
_START_SECONDS = 90


def serve(root: Path, port: int, find: Callable[[], str | None], say: Callable[[str], None]) -> int:
    """Serve the records of the workspace at `root` until interrupted; says the address once it answers.

    find: the id of the experiment to open, None for none; called when the port is known to be free, and leaves a
    database with all its tables. With a tracking server elsewhere, says its address, without user and query, and
    returns. Raises SettingError for a port in use.
    """
    uri = tracking_uri(root)
    elsewhere = urlsplit(uri) if uri.startswith("http") else None
    base = f"http://{HOST}:{port}"
    if elsewhere:
        base = f"{elsewhere.scheme}://{elsewhere.netloc.rpartition('@')[2]}{elsewhere.path.rstrip('/')}"
    else:
        _check_free(port)
    experiment = find()
    address = base if experiment is None else f"{base}/#/experiments/{experiment}/runs?{CHARTS_PAGE}"
    if elsewhere:
        say(address)
        return 0
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", uri]
    command += ["--host", HOST, "--port", str(port), "--workers", "1"]
    command += ["--default-artifact-root", (root / "mlartifacts").resolve().as_uri(), "--no-serve-artifacts"]
    quiet = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", **ENVIRONMENT}
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(
            command, env=quiet, cwd=root, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
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
