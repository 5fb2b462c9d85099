"""The machine, and what it can do at best: matrix products and copies, measured."""

import os
import platform
import subprocess
from pathlib import Path

import numba
import numpy as np
import torch

from benchmarks.gpu.timing import seconds_each
from gonn_core.training.environment import describe_device, describe_processor

MATRIX = {"gpu": 8192, "small": 512}
"""Rows and columns of the matrices that are multiplied."""
COPIED = {"gpu": 2**30, "small": 2**24}
"""Bytes copied at a time: more than any cache holds, at the full size."""


def describe(device: torch.device) -> dict:
    """Device, versions, settings and commit: what a number is worth nothing without."""
    told = {
        "device": describe_device(device),
        "processor": describe_processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
        "threads": torch.get_num_threads(),
        "commit": _commit(),
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "cublas_workspace": os.environ.get("CUBLAS_WORKSPACE_CONFIG", ""),
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        told |= {
            "memory_bytes": properties.total_memory,
            "multiprocessors": properties.multi_processor_count,
            "cuda": torch.version.cuda or torch.version.hip,
            "cudnn": torch.backends.cudnn.version(),
            "driver": _driver(),
        }
    return told


def peaks(device: torch.device, size: str, seconds: float) -> dict:
    """FLOP/s of a matrix product in bfloat16 and in float32 (no TF32), and bytes/s of a copy, read and written bytes
    counted."""
    rows = MATRIX[size]
    found = {}
    for name, dtype in (("bf16_flops", torch.bfloat16), ("fp32_flops", torch.float32)):
        left, right = (torch.randn(rows, rows, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(left)
        each = seconds_each(lambda a=left, b=right, c=out: torch.mm(a, b, out=c), device, seconds)
        found[name] = 2 * rows**3 / each
    source = torch.ones(COPIED[size] // 4, device=device)
    target = torch.empty_like(source)
    found["copy_bytes"] = 2 * COPIED[size] / seconds_each(lambda: target.copy_(source), device, seconds)
    return found


def _commit() -> str:
    """The commit of this code, `+` for uncommitted changes; `unknown` outside a repository."""
    here = Path(__file__).resolve().parent
    try:
        head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True)
        changed = subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=here, capture_output=True)
    except OSError:
        return "unknown"
    return head.stdout.strip() + "+" * (changed.returncode == 1) if head.returncode == 0 else "unknown"


def _driver() -> str:
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        found = subprocess.run(asked, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    lines = found.stdout.strip().splitlines()
    return lines[0] if found.returncode == 0 and lines else "unknown"
