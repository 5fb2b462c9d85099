"""What every runner offers: jobs in, events while they run, outcomes out.

A runner only decides *where* trials run. What a trial computes is in its config, and where it stands is in its directory, so a
runner keeps no state of its own: the same call after any interruption carries on, and two runners give equal weights.
"""

import importlib
import math
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gonn_core.config import trial_id
from gonn_core.errors import SettingError, UserError

RUN_TRIAL = "gonn_core.trial.run:run_trial"
"""What a worker calls with `(job, on_progress)`: an importable path, so that it can be named to another process."""

ATTEMPTS = 2
"""A trial whose process dies (killed, out of memory) is taken up once more from its directory."""

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
"""Environment of a worker, set before it imports torch: trials run side by side with one thread each."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a trial, told to the driver while it runs."""

    kind: Literal["started", "progress", "waiting", "retried", "finished", "failed"]
    """waiting: another command trains this trial, its result is taken; retried: its process died, another one carries on."""
    trial: str
    samples: int = 0
    """Positions trained on so far."""
    nats: float | None = None
    """Last cross-entropy on the progress subset."""
    rate: float | None = None
    """Samples per second of wall time."""
    message: str = ""
    """Why, for retried and failed: one line."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended."""

    trial: str
    state: Literal["done", "failed"]
    error: str = ""
    """One line, empty when done."""
    traceback: str = ""
    """Full text; empty when done, for an error the user can cause, and when the process died."""


OnEvent = Callable[[Event], None]


class Runner(Protocol):
    """Runs jobs side by side."""

    def run(self, jobs: Sequence, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """Run `jobs`, at most `slots` at a time (None: as many as the machine is good for).

        Each trial id runs once however many jobs name it. Outcomes come in the order of the jobs, one per trial id. A trial
        that fails is an outcome, not an exception. `on_event` is called from the calling thread alone.
        """
        ...


def distinct(jobs: Sequence) -> dict[str, object]:
    """Jobs by trial id, the first of each, in order. Raises ValueError when jobs of one trial ask for different things."""
    found = {}
    for job in jobs:
        first = found.setdefault(trial_id(job.config), job)
        if first.run != job.run:
            raise ValueError(f"two jobs of trial {trial_id(job.config)} with different run settings")
    return found


def load_function(path: str) -> Callable:
    """The function at an importable path `package.module:name`."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def progress_event(trial: str, line: dict) -> Event:
    """A line of metrics.jsonl as an event."""
    if line.get("waiting"):
        return Event("waiting", trial)
    return Event("progress", trial, line["samples"], line.get("nats"), line.get("samples_per_s"))


def describe(error: BaseException) -> str:
    """One line for an exception: a user's error as it is, any other with its type."""
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}".rstrip(": ")


def visible_gpus() -> list[str]:
    """Identifiers of the GPUs this process may use, without importing torch: CUDA_VISIBLE_DEVICES, else nvidia-smi's list."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name.strip() for name in named.split(",") if name.strip() not in ("", "-1")]
    if shutil.which("nvidia-smi") is None:
        return []
    try:
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [str(index) for index, line in enumerate(line for line in listing.splitlines() if line.startswith("GPU "))]


@dataclass(frozen=True)
class Places:
    """How many trials run at a time, and on which GPUs."""

    slots: int
    gpus: tuple[str, ...]

    def gpu(self, slot: int) -> str | None:
        """The GPU of a slot: GPUs are dealt in turn."""
        return self.gpus[slot % len(self.gpus)] if self.gpus else None

    @property
    def gpu_share(self) -> float:
        """Share of a GPU that a trial takes: 1 with a slot per GPU or fewer, a fraction when slots share one."""
        return 1 / math.ceil(self.slots / len(self.gpus)) if self.gpus else 0


def places(jobs: Sequence, slots: int | None) -> Places:
    """Slots and GPUs for these jobs. By default a slot per GPU, or one per CPU core where none is wanted or there is none."""
    if slots is not None and slots < 1:
        raise SettingError("SLOTS", slots, "not a number of trials to run at a time", "1 or more")
    gpus = visible_gpus() if any(job.run.device != "cpu" for job in jobs) else []
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = slots or len(gpus) or cores
    return Places(max(1, min(wanted, len(jobs))), tuple(gpus))
