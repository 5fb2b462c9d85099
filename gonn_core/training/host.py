"""What training processes take of their machine: environment variables, and threads that make batches. No torch.

No result depends on the number of these threads (`batches`). A thread works only while the step has fewer than two of
its batches to come, so a share that is larger than needed costs nothing.
"""

import os
from contextlib import suppress
from pathlib import Path

ENVIRONMENT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
"""Of every process that trains or evaluates, set before its first use of CUDA: with workspaces of its own for each
stream cuBLAS sums in one order (NVIDIA's cuBLAS documentation, Results Reproducibility)."""

MOST = 16
"""Loader threads of a trial, at most: of the slowest planes that no store holds as many feed the fastest GPUs; ours."""
_CGROUPS = Path("/sys/fs/cgroup")


def available_cores(cgroups: Path = _CGROUPS) -> int:
    """Cores that this process may use: its affinity, and no more than its container's share of their time."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    limit = float(cores)
    with suppress(OSError, ValueError, ZeroDivisionError):  # "max 100000" or "400000 100000"
        quota, period = (cgroups / "cpu.max").read_text().split()
        limit = int(quota) / int(period)
    return max(1, min(cores, int(limit)))


def loader_threads(asked: int | None, device: str, trials: int = 1, cores: int | None = None) -> int:
    """Threads that make batches of one trial: `asked`, else one on a CPU, where the step itself needs the core, else a
    share of the cores when so many trials run side by side.

    device: a torch device's type. cores: those of the machine, by default of this one.
    """
    if asked is not None:
        return asked
    if device == "cpu":
        return 1
    return max(1, min(MOST, (cores or available_cores()) // trials))
