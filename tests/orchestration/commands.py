"""The real command in a process of its own, in a workspace of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT
from tests.trial.helpers import starter_data
from tests.waiting import PATIENCE

STUDY = ("ablate", "parametric_relu", "--budget", "smoke", "--seeds", "1", "--runner", "local")
"""A study of two trials, one after the other on a machine with one core."""


def workspace(folder: Path) -> Path:
    """A workspace with the position store of the bundled games."""
    shutil.copytree(starter_data().store.folder.parent, folder / "stores")
    return folder


def start(home: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    """The command, working in `home`; keywords: variables of its environment."""
    usual = {name: value for name, value in os.environ.items() if name not in ("GONN_DATA", "MLFLOW_TRACKING_URI")}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "orchestration.cli", *arguments]
    return subprocess.Popen(
        command,
        cwd=home,
        env={**usual, "GONN_HOME": str(home), "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def gonn(home: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Its exit code and what it said, once it has ended."""
    process = start(home, *arguments, **environment)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err
