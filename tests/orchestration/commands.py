"""The real command in a workspace of its own: in a process of its own, or in this one where the process is no part of
what is tested."""

import atexit
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from orchestration.cli import command
from tests.paths import ROOT
from tests.trial.helpers import starter_data

SMOKE = ("--budget", "smoke", "--samples", "1280")
STUDY = ("ablate", "parametric_relu", *SMOKE, "--seeds", "1", "--runner", "local")


@cache
def speeds() -> Path:
    """Where commands keep how fast nets train here: measured once a test process."""
    folder = Path(tempfile.mkdtemp(prefix="gonn-speeds-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def workspace(folder: Path) -> Path:
    """A workspace with the position store of the bundled games."""
    shutil.copytree(starter_data().store.folder.parent, folder / "stores")
    (folder / "speeds").symlink_to(speeds())
    return folder


def start(home: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    """The command, working in `home`; keywords: variables of its environment."""
    usual = {name: value for name, value in os.environ.items() if name not in ("GONN_DATA", "MLFLOW_TRACKING_URI")}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "orchestration.cli", *arguments],
        cwd=home,
        env={**usual, "GONN_HOME": str(home), "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def gonn(home: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """The command in this process, working in `home`: its exit code and what it said. Everything of the process that a
    command can change is put back."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err), signals_kept():
        for name in ("GONN_DATA", "MLFLOW_TRACKING_URI"):
            patch.delenv(name, raising=False)
        for name, value in {"GONN_HOME": str(home), **environment}.items():
            patch.setenv(name, value)
        patch.chdir(home)
        code = command.run(list(arguments))
    return code, out.getvalue(), err.getvalue()


@contextmanager
def signals_kept():
    """Handlers of signals are afterwards what they were."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
