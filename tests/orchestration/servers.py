"""A real MLflow server, and a switch before it: what a network and a dying machine do to it, on demand."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestration.tracking.client import ENVIRONMENT
from tests.waiting import PATIENCE, wait_until


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Server:
    """`mlflow server` on a data base; artifacts go through it, into `folder`."""

    def __init__(self, folder: Path):
        self.folder, self.store, self.port = folder, f"sqlite:///{folder / 'server.db'}", free_port()
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start it; returns once it answers."""
        command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", self.store]
        command += ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        command += ["--artifacts-destination", (self.folder / "artifacts").as_uri()]
        environment = {**os.environ, **ENVIRONMENT, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        with open(self.folder / "server.log", "a") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            wait_until(self._answers, self._process, pause=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{(self.folder / 'server.log').read_text()}") from None

    def kill(self) -> None:
        """SIGKILL to it and its workers."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False


@contextmanager
def running(server: Server):
    """The server while this is entered."""
    try:
        server.start()
        yield server
    finally:
        server.kill()


class Switch:
    """A port that leads to another one, as long as `mode` says so.

    on; down: refuses connections and drops those there are; hangs: accepts and never answers; deaf: passes requests on,
    never an answer.
    """

    def __init__(self, target: int):
        self.port, self._target = free_port(), target
        self._mode, self._listener, self._sockets = "down", None, set()
        self.heard = threading.Event()
        """Set by each request that arrived."""

    @property
    def mode(self) -> str:
        """What it does now."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self._mode = mode
        for each in list(self._sockets):
            _close(each)
        if mode == "down" and self._listener is not None:
            _close(self._listener)
            self._listener = None
        elif mode != "down" and self._listener is None:
            self._listener = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets |= {near, far}
                for source, sink, back in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._pump, args=(source, sink, back), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, back: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not back:
                    self.heard.set()
                if self._mode == "on" or (self._mode == "deaf" and not back):
                    sink.sendall(data)
        if self._mode == "on":
            for each in (source, sink):
                _close(each)


def _close(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
