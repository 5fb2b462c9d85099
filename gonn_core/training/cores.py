"""How many threads make batches: a trial's share of the cores of a machine with a GPU, one on a CPU, where the step
itself needs the core.

No result depends on the number (`batches`). A thread works only while the step has fewer than two of its batches to
come, so a share that is larger than needed costs nothing.
"""

import os
from contextlib import suppress
from pathlib import Path

MOST = 16
"""Loader threads of a trial, at most: of the slowest planes that no store holds as many feed the fastest GPUs; ours."""
_CGROUPS = Path("/sys/fs/cgroup")


def available_cores(cgroups: Path = _CGROUPS) -> int:
    """Cores that this process may use: those it may be put on, and no more than its container's share of their time."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    limit = _limit(cgroups)
    return max(1, min(cores, int(limit))) if limit else cores


def loader_threads(asked: int | None, device: str, trials: int = 1, cores: int | None = None) -> int:
    """Threads that make batches of one trial: as many as its settings ask for; where they do not, one on a CPU, else
    its share of the cores when so many trials run side by side.

    device: a torch device's type. cores: those of the machine, by default of this one.
    """
    if asked is not None:
        return asked
    if device == "cpu":
        return 1
    return max(1, min(MOST, (cores or available_cores()) // trials))


def _limit(cgroups: Path) -> float | None:
    """Cores' worth of time that a container is given; None where that is not limited."""
    with suppress(OSError, ValueError, ZeroDivisionError):  # version 2: "max 100000" or "400000 100000"
        quota, period = (cgroups / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    with suppress(OSError, ValueError, ZeroDivisionError):  # version 1: -1 is no limit
        quota, period = ((cgroups / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else None
    return None
