"""The contract of runners: jobs in, events while they run, outcomes out.

A runner only decides *where* trials run. What a trial computes is in its configuration, and its progress is in its
directory, so a runner keeps no state: the same call after any interruption resumes, and two runners give equal weights.
"""

import importlib
import math
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Literal, Protocol

from gonn_core.errors import OutOfMemory, SettingError, UserError, shortage
from gonn_core.training.host import ENVIRONMENT
from gonn_core.trial.events import Begun, Event, Failed, Finished, Paused, Retried
from gonn_core.trial.job import Job
from orchestration.runners.gpus import visible_gpus

RUN_TRIAL = "gonn_core.trial.run:run_trial"
"""Importable path of the function that a worker calls with `(job, on_progress)`."""

ATTEMPTS = 2
"""How often a trial is started whose process dies; the second start resumes from the trial's directory."""

WORKER_ENVIRONMENT = {
    name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
} | ENVIRONMENT
"""Environment of a worker, set before it imports torch: one thread per trial, and deterministic sums on a GPU."""

OnEvent = Callable[[Event], bool | None]
"""Callback for the events of `gonn_core.trial.events`. Returning False, except for Begun and for the last event, pauses
the trial as it does in `run_trial`."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended."""

    trial: str
    state: Literal["done", "failed", "paused"]
    error: str = ""
    """One line; empty unless failed."""
    traceback: str = ""
    """Full text of an unexpected exception, else empty."""
    out_of_memory: bool = False
    """Failed for lack of memory; on a shared GPU it may be tried again with fewer trials per GPU."""


JobSource = Iterable[Job | None]
"""See `Runner.run`."""


class Runner(Protocol):
    """Runs jobs side by side."""

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """Run `jobs`, at most `slots` at a time (None: see `places`).

        The next job is requested when a slot is free, so `jobs` may be a generator that decides from the events so far.
        It yields None when it has no job until a running one ends. Each trial id runs once; outcomes are in the order
        of the jobs, one per trial id. A trial that fails is an outcome, not an exception. `on_event` is called from the
        calling thread only.
        """
        ...


def distinct(jobs: JobSource) -> Iterator[Job | None]:
    """The first job of each trial id, in order. Raises ValueError when jobs of one trial ask for different things."""
    seen: dict[str, Job] = {}
    for job in jobs:
        if job is None:
            yield None
        elif job.id not in seen:
            seen[job.id] = job
            yield job
        elif seen[job.id].run != job.run:
            raise ValueError(f"two jobs of trial {job.id} with different run settings")


def load_function(path: str) -> Callable:
    """The function at an importable path `package.module:name`."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def begun(job: Job) -> Begun:
    """The event that a slot starts a trial."""
    return Begun(job.id, 0, job.config.training.samples)


def retried(job: Job, why: str) -> Retried:
    """The event that a trial was interrupted and is queued again."""
    return Retried(job.id, 0, job.config.training.samples, message=why)


def failure(job: Job, error: Exception) -> Outcome:
    """The outcome of a trial that raised `error`, with the traceback unless it is a UserError. Call it in the `except`
    block."""
    if (problem := shortage(error)) is not None:
        error = OutOfMemory(problem)
    if isinstance(error, UserError):
        return Outcome(job.id, "failed", describe(error), out_of_memory=isinstance(error, OutOfMemory))
    return Outcome(job.id, "failed", describe(error), traceback.format_exc())


def ended(job: Job, outcome: Outcome) -> Finished | Failed | Paused:
    """The last event of a trial."""
    total = job.config.training.samples
    if outcome.state == "failed":
        return Failed(job.id, 0, total, message=outcome.error)
    if outcome.state == "paused":
        return Paused(job.id, 0, total)
    return Finished(job.id, total, total)


def describe(error: BaseException) -> str:
    """One line for an exception: the text of a UserError, any other with its type."""
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}".rstrip(": ")


@dataclass(frozen=True)
class Places:
    """How many trials run at a time, and on which GPUs."""

    slots: int
    gpus: tuple[str, ...] = ()
    """As `CUDA_VISIBLE_DEVICES` names them; empty: trials run on CPU cores."""
    per_gpu: int = 1
    """Trials on each GPU."""

    def gpu(self, slot: int) -> str | None:
        """The GPU of a slot, None on a CPU. Slots are dealt to the GPUs in turn."""
        return self.gpus[slot % len(self.gpus)] if self.gpus else None


def places(jobs: Iterable, slots: int | None, device: str = "auto", per_gpu: int | None = None) -> Places:
    """Slots and GPUs for `jobs` on `device`.

    On a CPU there are `slots` slots, by default one per core. On GPUs there are `per_gpu` per GPU, by default as many
    as `slots` asks for, else 1, and at most `slots` in all. Raises SettingError (SLOTS).
    """
    if slots is not None and slots < 1:
        raise SettingError("SLOTS", slots, "not a number of trials to run at a time", "1 or more")
    gpus = visible_gpus().names if device != "cpu" else ()
    if gpus:
        per_gpu = per_gpu or math.ceil((slots or 1) / len(gpus))
        most = min(slots or len(gpus) * per_gpu, len(gpus) * per_gpu)
    else:
        most = slots or usable_cores()
    return Places(min(most, max(1, len(jobs))) if isinstance(jobs, Sized) else most, gpus, per_gpu or 1)


def usable_cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
