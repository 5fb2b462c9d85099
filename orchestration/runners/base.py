"""What every runner offers: jobs in, events while they run, outcomes out.

A runner only decides *where* trials run. What a trial computes is in its config, and where it stands is in its
directory, so a runner keeps no state of its own: the same call after any interruption carries on, and two runners give
equal weights.
"""

import importlib
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Literal, Protocol

from gonn_core.errors import SettingError, UserError
from gonn_core.training.determinism import ENVIRONMENT
from gonn_core.trial.events import Begun, Event, Failed, Finished, Paused, Retried
from gonn_core.trial.job import Job
from gonn_core.trial.memory import OutOfMemory, shortage
from orchestration.runners.gpus import visible_gpus

RUN_TRIAL = "gonn_core.trial.run:run_trial"
"""What a worker calls with `(job, on_progress)`: an importable path, so that it can be named to another process."""

ATTEMPTS = 2
"""A trial whose process dies (killed, out of memory) is taken up once more from its directory."""

WORKER_ENVIRONMENT = {
    name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
} | ENVIRONMENT
"""Environment of a worker, set before it imports torch: trials run side by side with one thread each, and a GPU's sums
have one order."""

OnEvent = Callable[[Event], bool | None]
"""Told the events of `gonn_core.trial.events`. Returning False, except to Begun and when it is over, pauses the trial
as it does in `run_trial`."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended."""

    trial: str
    state: Literal["done", "failed", "paused"]
    error: str = ""
    """One line; empty unless failed."""
    traceback: str = ""
    """Full text; empty unless failed, for an error the user can cause, and when the process died without a word."""
    out_of_memory: bool = False
    """Failed for lack of memory; on a GPU it may be tried again with fewer beside it."""


JobSource = Iterable[Job | None]
"""What a runner is given: see `Runner.run`."""


class Runner(Protocol):
    """Runs jobs side by side."""

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """Run `jobs`, at most `slots` at a time (None: as many as the machine is good for).

        The next job is asked for when a slot is free, so `jobs` may be a generator that decides on what it was told so
        far; None in place of a job: not yet, not before one that is at work has ended. Each trial id runs once, however
        many jobs name it; outcomes come in the order of the jobs, one per trial id. A trial that fails is an outcome,
        not an exception. `on_event` is called from the calling thread alone.
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
    """The event that a slot takes a trial up."""
    return Begun(job.id, 0, job.config.training.samples)


def retried(job: Job, why: str) -> Retried:
    """The event that a trial's process died and another one carries on."""
    return Retried(job.id, 0, job.config.training.samples, message=why)


def failure(job: Job, error: Exception) -> Outcome:
    """The outcome of a trial that raised, with the traceback unless a user can put the error right; called while it is
    being handled."""
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
    """One line for an exception: a user's error as it is, any other with its type."""
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}".rstrip(": ")


@dataclass(frozen=True)
class Places:
    """How many trials run at a time, and on which GPUs."""

    slots: int
    """On GPUs: to begin with."""
    gpus: tuple[str, ...]
    most: int
    """How many it may become."""

    def gpu(self, slot: int) -> str | None:
        """The GPU of a slot: GPUs are dealt in turn."""
        return self.gpus[slot % len(self.gpus)] if self.gpus else None


def places(jobs: Iterable, slots: int | None, device: str = "auto") -> Places:
    """Slots and GPUs for `jobs` on `device`.

    `slots` as asked for; else one per CPU core where no GPU is wanted or there is none, and one per GPU to begin with
    where there are some, up to one per core.
    """
    if slots is not None and slots < 1:
        raise SettingError("SLOTS", slots, "not a number of trials to run at a time", "1 or more")
    gpus = visible_gpus().names if device != "cpu" else ()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = slots or max(cores, len(gpus))
    first = slots or len(gpus) or cores
    useful = max(1, len(jobs)) if isinstance(jobs, Sized) else most
    return Places(min(first, useful), gpus, min(most, useful))
