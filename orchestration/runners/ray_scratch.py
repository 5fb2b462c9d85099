"""Folders for Ray's sessions and Tune's bookkeeping, which nothing is ever read from again."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gonn_core.trial.process import Process, is_alive, this_process
from orchestration.runners.ray_session import kill, members

NAME = "gonn-ray-"
"""Beginning of the name of a command's folder, hidden where a cluster shares it; its process id follows."""
OWNER, LEADER = "owner.json", "leader"
"""In a folder: the process whose it is, and the id of the session of Ray's processes."""


@contextmanager
def scratch(shared: Path | None = None) -> Iterator[Path]:
    """A folder for Ray's session and Tune's bookkeeping, removed afterwards. Sockets need a short path: not under
    TMPDIR.

    shared: a folder of the cluster, to which no session belongs.
    """
    parent = shared or _private()
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{'.' if shared else ''}{NAME}{os.getpid()}-", dir=parent))
    try:
        (folder / OWNER).write_text(json.dumps(this_process()._asdict()))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def note_leader(folder: Path, pid: int) -> None:
    """Remember the session of Ray's processes, for whoever comes after a command that was killed."""
    (folder / LEADER).write_text(str(pid))


def sweep(runs: Path) -> None:
    """Remove what commands of this machine left that were killed: their folders, in `runs` too, and processes of
    theirs that still run."""
    for path in [*_private().glob(f"{NAME}*-*"), *runs.glob(f".{NAME}*-*")]:
        if _is_left(path):
            _end_processes(path)
            shutil.rmtree(path, ignore_errors=True)


def _private() -> Path:
    return Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())


def _is_left(path: Path) -> bool:
    try:
        if path.stat().st_uid != os.getuid():
            return False
        return is_alive(Process(**json.loads((path / OWNER).read_text()))) is False
    except (OSError, ValueError, TypeError):  # made by an earlier version, or killed in the act: its name says whose
        owner = path.name.lstrip(".").removeprefix(NAME).split("-")[0]
        return not path.name.startswith(".") and owner.isdigit() and not _runs(int(owner))


def _end_processes(path: Path) -> None:
    """End Ray's processes that belong to a folder: those of its session that show so by their command lines, for the
    session's number may be another's by now."""
    with suppress(OSError, ValueError):
        for each in members(int((path / LEADER).read_text())):
            if each.words.startswith("ray::") or path.name in each.words:
                kill(each.pid)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
