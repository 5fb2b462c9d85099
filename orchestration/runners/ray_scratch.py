"""Folders for Ray's sessions and Tune's bookkeeping, which nothing is ever read from again."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

NAME = "gonn-ray-"
"""Beginning of the name of a command's folder; its process id follows."""


@contextmanager
def scratch(shared: Path | None = None):
    """A folder for Ray's session and Tune's bookkeeping, removed afterwards. Sockets need a short path: not under
    TMPDIR.

    shared: a folder of the cluster, to which no session belongs.
    """
    parent = shared or Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())
    if shared is None:
        sweep(parent)
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{'.' if shared else ''}{NAME}{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove the folders of commands that were killed."""
    for path in parent.glob(f"{NAME}*-*"):
        owner = path.name.removeprefix(NAME).split("-")[0]
        if owner.isdigit() and not _runs(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
