"""The contract of runners, and their queue of jobs: jobs in, events while they run, outcomes out.

A runner only decides *where* trials run. What a trial computes is in its configuration, and its progress is in its
directory, so a runner keeps no state: the same call after any interruption resumes, and two runners give equal weights.
"""

import importlib
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from gonn_core.errors import OutOfMemory, UserError, shortage
from gonn_core.training.host import ENVIRONMENT, loader_threads
from gonn_core.trial.events import Begun, Event, Failed, Finished, Paused, Retried
from gonn_core.trial.job import Job

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

JobSource = Iterable[Job | None]
"""See `Runner.run`."""


@dataclass(frozen=True)
class TrialOutcome:
    """How a trial ended."""

    trial: str
    state: Literal["done", "failed", "paused"]
    error: str = ""
    """One line; empty unless failed."""
    traceback: str = ""
    """Full text of an unexpected exception, else empty."""
    out_of_memory: bool = False
    """Failed for lack of memory; on a shared GPU it may be tried again with fewer trials per GPU."""


class Runner(Protocol):
    """Runs jobs side by side."""

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[TrialOutcome]:
        """Run `jobs`, at most `slots` at a time (None: see `places`).

        The next job is requested when a slot is free, so `jobs` may be a generator that decides from the events so far.
        It yields None when it has no job until a running one ends. Each trial id runs once; outcomes are in the order
        of the jobs, one per trial id. A trial that fails is an outcome, not an exception. `on_event` is called from the
        calling thread only. Raises ValueError when jobs of one trial ask for different things.
        """
        ...


def call(path: str, *arguments: Any) -> Any:
    """Call the function at an importable path `package.module:name`."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments)


def run_job(function: str, job: Job, on_event: OnEvent) -> TrialOutcome:
    """Run one trial in this process by the function at an importable path. Finished is not passed to `on_event`: the
    queue publishes it with the outcome."""
    try:
        result = call(function, job, lambda event: isinstance(event, Finished) or on_event(event))
        return TrialOutcome(job.id, result["state"])
    except Exception as error:  # any exception is the trial's outcome: the study continues
        lack = shortage(error)
        shown = error if lack is None else OutOfMemory(lack)
        text = "" if isinstance(shown, UserError) else traceback.format_exc()
        return TrialOutcome(job.id, "failed", describe(shown), text, isinstance(shown, OutOfMemory))


def describe(error: BaseException) -> str:
    """One line for an exception: the text of a UserError, any other with its type."""
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}".rstrip(": ")


def ended(job: Job, outcome: TrialOutcome) -> Finished | Failed | Paused:
    """The last event of a trial."""
    total = job.config.training.samples
    if outcome.state == "failed":
        return Failed(job.id, 0, total, message=outcome.error)
    return Paused(job.id, 0, total) if outcome.state == "paused" else Finished(job.id, total, total)


class JobQueue:
    """The jobs of one call of a runner, in order, those to try again first.

    gpus: number of like GPUs, 0: trials run on CPUs. per_gpu: trials on each at most; one fewer after a trial ran out
    of memory. cores: of the machines that the trials share; None: of this one.
    """

    def __init__(self, jobs: JobSource, on_event: OnEvent, gpus: int = 0, per_gpu: int = 1, cores: int | None = None):
        self._jobs, self.publish = iter(jobs), on_event
        self.gpus, self.per_gpu, self.cores = gpus, per_gpu, cores
        self._jobs_seen: dict[str, Job] = {}
        self._running: dict[str, tuple[Job, int]] = {}
        """Trial id -> its job, and `per_gpu` when it began."""
        self._deaths: Counter[str] = Counter()
        self._outcomes: dict[str, TrialOutcome] = {}
        self._exhausted = False
        self.first = self._next()
        """Shows where all of them run; None when there is no job."""
        self._again: list[Job] = [self.first] if self.first else []

    def take(self) -> Job | None:
        """The next job; None when there is none now. The caller later calls `end` or `died` for it."""
        if self.gpus and len(self._running) >= self.gpus * self.per_gpu:
            return None
        job = self._again.pop(0) if self._again else self._next()
        if job is None:
            return None
        self._running[job.id] = job, self.per_gpu
        if not self.gpus or job.run.loader_threads is not None:
            return job
        threads = loader_threads(None, "cuda", self.gpus * self.per_gpu, self.cores)
        return job.model_copy(update={"run": job.run.model_copy(update={"loader_threads": threads})})

    def _next(self) -> Job | None:
        for job in self._jobs:
            if job is None or job.id not in self._jobs_seen:
                self._jobs_seen |= {job.id: job} if job else {}
                return job
            if self._jobs_seen[job.id].run != job.run:
                raise ValueError(f"two jobs of trial {job.id} with different run settings")
        self._exhausted = True
        return None

    @property
    def is_over(self) -> bool:
        """Whether every job has ended."""
        return self._exhausted and not self._again and not self._running

    @property
    def outcomes(self) -> list[TrialOutcome]:
        """How the jobs ended, in their order."""
        return [self._outcomes[trial] for trial in self._jobs_seen if trial in self._outcomes]

    def begin(self, job: Job) -> None:
        """A process starts a trial that was taken."""
        self.publish(Begun(job.id, 0, job.config.training.samples))

    def end(self, job: Job, outcome: TrialOutcome) -> None:
        """A trial has ended: note it, or queue the trial again when a GPU's memory was too small for all on it: with
        one trial per GPU fewer than when it began."""
        if outcome.out_of_memory and self.gpus:
            _, began = self._running[job.id]
            self.per_gpu = max(1, min(self.per_gpu, began - 1))
            if began > 1:
                few = f"{self.per_gpu} trial{'s' * (self.per_gpu > 1)} per GPU"
                self._queue_again(job, f"{outcome.error}; again, with at most {few}")
                return
            outcome = replace(outcome, error=f"{outcome.error}, with a GPU to itself")
        del self._running[job.id]
        self._outcomes[job.id] = outcome
        self.publish(ended(job, outcome))

    def died(self, job: Job, why: str) -> None:
        """A trial's process died: queue the trial again, or note that it failed."""
        self._deaths[job.id] += 1
        if self._deaths[job.id] < ATTEMPTS:
            self._queue_again(job, why)
        else:
            self.end(job, TrialOutcome(job.id, "failed", f"{why}, {ATTEMPTS} times"))

    def queue_running_again(self, why: str) -> None:
        """All workers are gone, through no fault of their trials, even of those whose process died first."""
        self._deaths.clear()
        for job, _ in list(self._running.values()):
            self._queue_again(job, why)

    def _queue_again(self, job: Job, why: str) -> None:
        del self._running[job.id]
        self._again.append(job)
        self.publish(Retried(job.id, 0, job.config.training.samples, message=why))
