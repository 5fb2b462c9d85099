"""The MLflow server on this machine, opened at a study."""

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

from gonn_core.errors import SettingError, UserError
from orchestration.tracking import pages, view
from orchestration.tracking.client import ENVIRONMENT
from orchestration.tracking.uri import page_of, redacted, tracking_uri

_START_SECONDS = 90


def serve(
    root: Path, port: int, find: Callable[[], str | None], say: Callable[[str], None], host: str = "127.0.0.1"
) -> int:
    """Show the records of the workspace at `root` until interrupted; says the address once it answers.

    find: the id of the experiment to open, None for none; called when the port is known to be free, and leaves a data
    base with all its tables. With a tracking server elsewhere, says its address and returns. Raises SettingError for a
    port in use.
    """
    uri = tracking_uri(root)
    if uri.startswith("http"):
        say(_address(page_of(uri), find()))
        return 0
    _check_free(host, port)
    address = _address(f"http://{host}:{port}", find())
    with tempfile.TemporaryDirectory(prefix="gonn-pages-") as folder:
        return _serve_here(root, uri, host, port, address, pages.plugin(Path(folder)), say)


def _serve_here(
    root: Path, uri: str, host: str, port: int, address: str, python_path: str, say: Callable[[str], None]
) -> int:
    command = [sys.executable, "-m", "mlflow", "server", "--app-name", pages.NAME, "--backend-store-uri", uri]
    command += ["--host", host, "--port", str(port), "--workers", "1"]
    command += ["--default-artifact-root", (root / "mlartifacts").resolve().as_uri(), "--no-serve-artifacts"]
    quiet = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", **ENVIRONMENT}
    quiet["PYTHONPATH"] = os.pathsep.join(filter(None, [python_path, os.environ.get("PYTHONPATH")]))
    log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - the server writes to it as long as it runs
    server = subprocess.Popen(  # see `pages.application` for its stdin
        command, env=quiet, cwd=root, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
    )
    try:
        _wait_until_it_answers(server, log, host, port)
        say(f"{address}  (Ctrl-C ends it)")
        if sys.stdout.isatty() and (
            sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        ):
            webbrowser.open(address)
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        _end(server)


def _address(base: str, experiment: str | None) -> str:
    return base if experiment is None else f"{base}/#/experiments/{experiment}/runs?{view.QUERY}"


def _check_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingError(
                "PORT", port, f"cannot listen there ({error.strerror})", "a free port, such as PORT=5001"
            ) from None


def _wait_until_it_answers(server: subprocess.Popen, log, host: str, port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if server.poll() is not None:
            log.seek(0)
            last = (log.read().strip().splitlines() or ["no word why"])[-1]
            raise UserError(f"the MLflow server ended at once: {redacted(last)}")
        try:
            connection = http.client.HTTPConnection(host, port, timeout=2)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise UserError(f"the MLflow server did not answer within {_START_SECONDS} seconds")


def _end(server: subprocess.Popen) -> None:
    """End the server with its workers, which have a session of their own."""
    if server.poll() is None:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
