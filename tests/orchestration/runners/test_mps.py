"""NVIDIA's MPS for a command, with a script on PATH in place of its control program: there is no GPU here."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gonn_core.errors import SettingError
from orchestration.runners import gpus, mps
from orchestration.runners.base import Places
from orchestration.runners.gpus import Gpus
from orchestration.runners.mps import sharing
from tests.paths import ROOT
from tests.waiting import PATIENCE, alive, wait_until

PRELUDE = """#!/bin/sh
PATH=/usr/bin:/bin
pipes=${CUDA_MPS_PIPE_DIRECTORY:-/nowhere}
if [ "$1" = -d ]; then
    echo "start $CUDA_VISIBLE_DEVICES" >>"$(dirname "$0")/log"
"""
WORKS = (
    PRELUDE
    + """
    sleep 1000 &
    echo $! >"$pipes/nvidia-cuda-mps-control.pid"
    echo $! >"$(dirname "$0")/daemon"
    touch "$pipes/control"
    exit 0
fi
read command
echo "$command" >>"$(dirname "$0")/log"
pid=$(cat "$pipes/nvidia-cuda-mps-control.pid") || exit 1
case "$command" in
    get_server_list) echo 4711 ;;
    quit) kill "$pid" ;;
esac
"""
)
STUBBORN = WORKS.replace('kill "$pid"', "true")
REFUSES = PRELUDE + "\n    echo 'MPS control daemon: permission denied' >&2; exit 1\nfi\nexit 1\n"
NO_SERVER = WORKS.replace("echo 4711", "true")
SHARED = Places(1, ("0",), 8)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """`machine(control)`: a machine with GPUs and this control program, none without; its folder."""
    monkeypatch.setattr(mps, "torch_builds", lambda: {"cuda": "13.0", "hip": None})
    monkeypatch.setattr(gpus, "torch_builds", lambda: {"cuda": "13.0", "hip": None})
    monkeypatch.setattr(mps, "visible_gpus", lambda: Gpus(("0",), ("NVIDIA H100",)))
    monkeypatch.setattr(mps, "_QUESTION", "pass")
    monkeypatch.setattr(mps, "USUAL_PIPES", str(tmp_path / "nothing"))
    for name in (mps.SETTING, mps.PIPES, mps.LOGS, "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def make(control=None):
        if control is not None:
            path = tmp_path / mps.CONTROL
            path.write_text(control)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return tmp_path

    return make


def daemon(folder: Path) -> int:
    return int((folder / "daemon").read_text())


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines()


def test_started_for_a_command_and_ended_with_it(machine):
    folder, said = machine(WORKS), []
    with sharing(Places(2, ("2", "GPU-7", "5"), 8), said.append) as shared:
        assert said == ["MPS runs: trials share a GPU at the same time"] and alive(daemon(folder))
        environment = shared.environment("5")
        pipes = Path(environment[mps.PIPES])
        assert pipes.is_dir() and Path(environment[mps.LOGS]).is_dir()
        assert len(str(pipes)) < 80, "sockets need a short path"
        assert environment["CUDA_VISIBLE_DEVICES"] == "2", "clients count what the daemon has"
        assert shared.environment("GPU-7")["CUDA_VISIBLE_DEVICES"] == "GPU-7"
        assert shared.environment("2", "GPU-7", "5")["CUDA_VISIBLE_DEVICES"] == "0,GPU-7,2"
        assert shared.environment() == {}
    assert log(folder) == ["start 2,GPU-7,5", "get_server_list", "quit"]
    wait_until(lambda: not alive(daemon(folder)))
    assert not pipes.exists()


def test_ended_when_the_command_is_interrupted(machine):
    folder = machine(WORKS)
    with pytest.raises(KeyboardInterrupt), sharing(SHARED, print):
        raise KeyboardInterrupt
    wait_until(lambda: not alive(daemon(folder)))


def _why(said: list[str]) -> str:
    (line,) = said
    return line.removeprefix("MPS is not used (").removesuffix("): trials that share a GPU take turns")


@pytest.mark.parametrize(
    ("control", "question", "why"),
    [
        (None, "pass", "nvidia-cuda-mps-control is not found"),
        (REFUSES, "pass", "it could not be started: MPS control daemon: permission denied"),
        (WORKS, "raise RuntimeError('CUDA error: busy')", "a process on GPU 0 failed: RuntimeError: CUDA error: busy"),
        (NO_SERVER, "pass", "its daemon started no server for a process on the GPU"),
    ],
    ids=["not found", "not permitted", "no client", "no server"],
)
def test_why_not(machine, monkeypatch, control, question, why):
    folder, said = machine(control), []
    monkeypatch.setattr(mps, "_QUESTION", question)
    with sharing(SHARED, said.append) as shared:
        assert _why(said) == why
        assert shared.environment("0") == {"CUDA_VISIBLE_DEVICES": "0"}
        if (folder / "daemon").exists():
            wait_until(lambda: not alive(daemon(folder)))


def test_not_for_instances_nor_on_amd_nor_when_unwanted(machine, monkeypatch):
    folder, said = machine(WORKS), []
    with sharing(Places(1, ("MIG-a",), 8), said.append):
        assert _why(said) == "instances of a partitioned GPU would need a daemon each"
    monkeypatch.setenv("GONN_MPS", "no")
    with sharing(SHARED, said.append):
        assert _why(said[1:]) == "GONN_MPS=no"
    monkeypatch.setenv("GONN_MPS", "auto")
    monkeypatch.setattr(mps, "torch_builds", lambda: {"cuda": None, "hip": "7.0"})
    with sharing(SHARED, said.append):
        assert _why(said[2:]) == "it is NVIDIA's"
    assert not (folder / "log").exists()
    monkeypatch.setenv("GONN_MPS", "maybe")
    with (
        pytest.raises(SettingError, match="GONN_MPS=maybe: not a way to share a GPU; valid: auto, no"),
        sharing(SHARED),
    ):
        pass


@pytest.mark.parametrize("where", [Places(2, ("0", "1"), 2), Places(8, (), 8), Places(1, ("0",), 1)])
def test_nothing_is_said_or_started_where_no_gpu_is_shared(machine, where):
    folder, said = machine(WORKS), []
    with sharing(where, said.append) as shared:
        assert shared.environment(*where.gpus[:1]).keys() <= {"CUDA_VISIBLE_DEVICES"}
    assert not said and not (folder / "log").exists()


@pytest.mark.parametrize("tool", [WORKS, None], ids=["asked", "in a container"])
def test_one_that_runs_is_used_and_left_alone(machine, monkeypatch, tool):
    folder, said = machine(tool), []
    pipes = folder / "others"
    pipes.mkdir()
    (pipes / "control").touch()
    (pipes / "nvidia-cuda-mps-control.pid").write_text(str(os.getpid()))
    monkeypatch.setenv(mps.PIPES, str(pipes))
    with sharing(SHARED, said.append) as shared:
        assert said == [f"MPS runs already ({pipes}): it is used, and left alone"]
        assert shared.environment("0") == {"CUDA_VISIBLE_DEVICES": "0"}, "the pipes are in the environment"
    assert (pipes / "control").exists() and (tool is None or log(folder) == ["get_server_list"])


@pytest.mark.system
@pytest.mark.parametrize("control", [WORKS, STUBBORN], ids=["ends", "does not"])
def test_ended_when_the_command_is_killed(machine, control):
    folder = machine(control)
    text = (
        "import time; from orchestration.runners import gpus, mps; from orchestration.runners.base import Places\n"
        "mps._QUESTION = 'pass'; mps.torch_builds = gpus.torch_builds = lambda: {'cuda': '13.0', 'hip': None}\n"
        f"mps.USUAL_PIPES = {str(folder / 'nothing')!r}; mps.visible_gpus = lambda: gpus.Gpus(('0',))\n"
        "with mps.sharing(Places(1, ('0',), 8), lambda line: print(line, flush=True)): time.sleep(1000)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text], cwd=ROOT, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout.readline().startswith("MPS runs")
        assert alive(daemon(folder))
        os.kill(command.pid, signal.SIGKILL)
        command.wait(PATIENCE)
    wait_until(lambda: not alive(daemon(folder)))
