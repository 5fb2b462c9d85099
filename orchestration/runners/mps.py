"""NVIDIA's MPS beside the trials of a command: their processes use a GPU at the same time instead of taking turns.

Its daemon is started where several trials share a GPU, and ended with the command, however that ends: a shell keeps it
and hears by the end of a pipe that the command is gone. One that runs already is used and left alone. A trial computes
the same with it and without.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gonn_core.errors import SettingError, printable
from orchestration.console import notes
from orchestration.runners.base import Places
from orchestration.runners.gpus import PATIENCE_SECONDS, seeing, torch_builds, visible_gpus
from orchestration.runners.ray_scratch import scratch

SETTING = "GONN_MPS"
CONTROL = "nvidia-cuda-mps-control"
PIPES, LOGS = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"
USUAL_PIPES = "/tmp/nvidia-mps"
QUIT_SECONDS = 15.0
"""Patience with a daemon that was told to end; then it is killed."""

_KEEP = f"""
"$1" -d </dev/null >"$2/start" 2>&1 || exit 1
echo up
cat >/dev/null
echo quit | "$1" >/dev/null 2>&1
pid=$(cat "${PIPES}/{CONTROL}.pid" 2>/dev/null) || exit 0
for tenth in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$pid" 2>/dev/null || exit 0; sleep 1; done
kill -9 "$pid"
"""
"""Starts the daemon, says so, and ends it at the end of the standard input. $1: the control program, $2: a folder."""

_QUESTION = "import torch; torch.zeros(1, device='cuda').add_(1).item()"


@dataclass(frozen=True)
class Sharing:
    """How trials come to their GPUs."""

    daemon: tuple[tuple[str, str], ...] = ()
    """Environment by which they find the daemon of this command, if there is one."""
    gpus: tuple[str, ...] = ()
    """Those that the daemon has, as the runner calls them. Its clients count them anew."""

    def environment(self, *gpus: str) -> dict[str, str]:
        """Of a process that is to see these GPUs alone; nothing without any."""
        if not gpus:
            return {}
        return {**dict(self.daemon), **seeing(map(self._as_clients_say, gpus))}

    def _as_clients_say(self, gpu: str) -> str:
        return gpu if not self.daemon or gpu.startswith("GPU-") else str(self.gpus.index(gpu))


class _NotPossible(Exception):
    """Why there is no daemon, for a line."""


def tell(line: str) -> None:
    """A line beside what a command shows of its trials."""
    notes().print(line)


@contextmanager
def sharing(where: Places, say: Callable[[str], object] = tell) -> Iterator[Sharing]:
    """While this is entered trials may share the GPUs of `where`, with MPS where that can be; one line tells which.
    Nothing is started or said where no GPU is shared. Raises SettingError (GONN_MPS)."""
    wanted = os.environ.get(SETTING) or "auto"
    if wanted not in ("auto", "no"):
        raise SettingError(SETTING, wanted, "not a way to share a GPU", ("auto", "no"))
    if where.most <= len(where.gpus) or not where.gpus:
        yield Sharing()
        return
    with scratch() as folder:
        keeper = None
        try:
            try:
                if wanted == "no":
                    raise _NotPossible(f"{SETTING}=no")
                keeper, shared = _begin(where.gpus, folder)
                say(
                    "MPS runs: trials share a GPU at the same time"
                    if keeper
                    else f"MPS runs already ({_pipes()}): it is used, and left alone"
                )
            except _NotPossible as why:
                shared = Sharing()
                say(f"MPS is not used ({why}): trials that share a GPU take turns")
            yield shared
        finally:
            if keeper is not None:
                _end(keeper)


def _pipes() -> str:
    return os.environ.get(PIPES) or USUAL_PIPES


def _begin(gpus: tuple[str, ...], folder: Path) -> tuple[subprocess.Popen | None, Sharing]:
    """The process that keeps a new daemon, None where one runs already; raises _NotPossible."""
    if torch_builds()["hip"]:
        raise _NotPossible("it is NVIDIA's")
    if any(name.startswith("MIG-") for name in gpus) or visible_gpus().are_instances:
        raise _NotPossible("instances of a partitioned GPU would need a daemon each")
    tool = shutil.which(CONTROL)
    if _answers(tool, _pipes()):
        return None, Sharing()
    if tool is None:
        raise _NotPossible(f"{CONTROL} is not found")
    for name in ("pipes", "logs"):
        (folder / name).mkdir(mode=0o700)
    daemon = ((PIPES, str(folder / "pipes")), (LOGS, str(folder / "logs")))
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", _KEEP, "sh", tool, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **dict(daemon), **seeing(gpus)},
        start_new_session=True,  # out of reach of the terminal's signals: the command hears them, and ends it
        text=True,
    )
    try:
        if _stream(keeper.stdout).readline() != "up\n":
            raise _NotPossible(f"it could not be started: {_last_line(folder / 'start')}")
        shared = Sharing(daemon, gpus)
        _check_clients(shared)
        if not _answers(tool, str(folder / "pipes"), with_server=True):
            raise _NotPossible("its daemon started no server for a process on the GPU")
    except BaseException:
        _end(keeper)
        raise
    return keeper, shared


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None, "it was asked for"
    return stream


def _answers(tool: str | None, pipes: str, with_server: bool = False) -> bool:
    """Whether a daemon with its pipes in this folder answers, and has a server."""
    if not (Path(pipes) / "control").exists():
        return False
    if tool is None:
        return True  # a container sees the pipes of its host's
    try:
        asked = subprocess.run(
            [tool],
            input="get_server_list\n",
            capture_output=True,
            text=True,
            timeout=QUIT_SECONDS,
            env={**os.environ, PIPES: pipes},
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0 and bool(not with_server or asked.stdout.strip())


def _check_clients(shared: Sharing) -> None:
    """Have a process use each GPU as trials will. Raises _NotPossible with what the first that cannot says."""
    asked = [
        subprocess.Popen(
            [sys.executable, "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **shared.environment(gpu)},
            text=True,
        )
        for gpu in shared.gpus
    ]
    try:
        for gpu, process in zip(shared.gpus, asked, strict=True):
            try:
                _, errors = process.communicate(timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                raise _NotPossible(f"a process on GPU {gpu} did not end") from None
            if process.returncode:
                line = next((line for line in reversed(errors.splitlines()) if line.strip()), "")
                raise _NotPossible(f"a process on GPU {gpu} failed: {printable(line, 200)}")
    finally:
        for process in asked:
            process.kill()
            process.wait()


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return printable(lines[-1], 200) if lines else "it did not say why"


def _end(keeper: subprocess.Popen) -> None:
    """Have the daemon end, and wait for that."""
    with suppress(OSError):
        _stream(keeper.stdin).close()
    try:
        keeper.wait(QUIT_SECONDS)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()
    _stream(keeper.stdout).close()
