"""GPUs as torch counts them, and what NVIDIA's tools beside it tell."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import printable
from orchestration.runners.gpus import visible_gpus

SECONDS = 20
"""After which a tool is not waited for."""
MPS_CONTROL = "nvidia-cuda-mps-control"
CPUS = "CPUs alone"
_NO_TOOL = "not on PATH"


@dataclass(frozen=True)
class Gpu:
    """One that torch may use. compute: its compute capability, or architecture; bf16: whether it has units for it."""

    name: str
    gib: float
    compute: str
    processors: int
    bf16: bool


@dataclass(frozen=True)
class Gpus:
    """All that torch may use, and what decides on them. Words where there is nothing to count."""

    found: tuple[Gpu, ...]
    built_for: str
    """`CUDA 12.8`, `ROCm 6.4`, or `CPUs alone`."""
    visible: str | None
    """CUDA_VISIBLE_DEVICES; None: not set."""
    driver: str | None
    nvidia_smi: str
    """Its path, or that there is none."""
    mig: tuple[str, ...]
    """Instances of partitioned GPUs, as trials are given them."""
    mps: str
    """Whether NVIDIA's MPS, with which small nets share a GPU, runs, can be started, or cannot."""

    @property
    def none_line(self) -> str:
        """Why there is none, in a few words."""
        if self.built_for == CPUS:
            return f"none: this torch is built for {CPUS}"
        hidden = f" (CUDA_VISIBLE_DEVICES={printable(self.visible, 60)})" if self.visible is not None else ""
        return f"none that torch finds, which is built for {self.built_for}{hidden}"


def read_gpus() -> Gpus:
    """This machine's. Starts no daemon and changes nothing."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    found = tuple(_gpu(torch.cuda.get_device_properties(index)) for index in range(count))
    hip, cuda = torch.version.hip, torch.version.cuda
    built_for = f"ROCm {hip}" if hip else f"CUDA {cuda}" if cuda else CPUS
    tool, visible = shutil.which("nvidia-smi"), visible_gpus()
    return Gpus(
        found=found,
        built_for=built_for,
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        driver=_driver(tool),
        nvidia_smi=tool or _NO_TOOL,
        mig=visible.names if visible.are_instances else (),
        mps=_mps(any_nvidia=bool(found) and not hip),
    )


def _gpu(told) -> Gpu:
    architecture = getattr(told, "gcnArchName", "").partition(":")[0]  # of ROCm alone
    return Gpu(
        name=printable(told.name, 60),
        gib=told.total_memory / 2**30,
        compute=architecture or f"{told.major}.{told.minor}",
        processors=told.multi_processor_count,
        bf16=bool(architecture) or (told.major, told.minor) >= (8, 0),
    )


def _driver(tool: str | None) -> str | None:
    if tool is not None:
        lines = _told([tool, "--query-gpu=driver_version", "--format=csv,noheader"]).split()
        return printable(lines[0], 40) if lines else None
    try:
        first = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8", errors="replace").split("\n")[0]
    except OSError:
        return None
    return printable(first.partition(":")[2].strip(), 100) or None


def _told(command: list[str]) -> str:
    """What a tool prints; nothing of one that fails."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""


def _mps(any_nvidia: bool) -> str:
    if not any_nvidia:
        return "not possible: no NVIDIA GPU"
    pipes = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps"))
    if (pipes / "control").exists():
        return f"runs ({printable(str(pipes), 80)})"
    tool = shutil.which(MPS_CONTROL)
    return f"possible, not started ({printable(tool, 80)})" if tool else f"not possible: {MPS_CONTROL} {_NO_TOOL}"
