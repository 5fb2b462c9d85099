"""The jobs of one call of a runner: which is next, which are tried again, how each ended; trials that share a GPU."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from gonn_core.training.host import loader_threads
from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from orchestration.runners.base import ATTEMPTS, OnEvent, Outcome, begun, ended, retried


class GpuShare:
    """At most `per_gpu` trials on each of `gpus` like GPUs; one fewer after a trial ran out of memory.

    cores: of the machines that the trials share; None: of this one.
    """

    def __init__(self, gpus: int, per_gpu: int, cores: int | None = None):
        self.gpus, self.per_gpu, self._cores = gpus, per_gpu, cores
        self._running: dict[str, int] = {}
        """Trial id -> `per_gpu` when it began."""

    @property
    def has_room(self) -> bool:
        """Whether another trial may start."""
        return len(self._running) < self.gpus * self.per_gpu

    @property
    def loader_threads(self) -> int:
        """Threads that make the batches of a trial: its share of the cores."""
        return loader_threads(None, "cuda", self.gpus * self.per_gpu, self._cores)

    def begin(self, trial: str) -> None:
        """A trial starts."""
        self._running[trial] = self.per_gpu

    def end(self, trial: str) -> None:
        """A trial has ended, however it did."""
        del self._running[trial]

    def shrink(self, trial: str) -> bool:
        """A running trial ran out of memory: allow one trial per GPU fewer than when it began. False when it began with
        a GPU to itself."""
        began = self._running[trial]
        self.per_gpu = max(1, min(self.per_gpu, began - 1))
        return began > 1


class JobQueue:
    """Jobs in order, those to try again first. `share`: limits the trials on GPUs; None: trials run on CPUs."""

    def __init__(self, jobs: Iterator[Job | None], on_event: OnEvent, share: GpuShare | None = None):
        self._jobs, self._on_event, self.share = jobs, on_event, share
        self._again: list[Job] = []
        self._running: dict[str, Job] = {}
        self._deaths: Counter[str] = Counter()
        self._outcomes: dict[str, Outcome | None] = {}
        self._exhausted = False

    def take(self) -> Job | None:
        """The next job; None when there is none now. The caller later calls `end` or `died` for it."""
        if self.share is not None and not self.share.has_room:
            return None
        job = self._again.pop(0) if self._again else self._next()
        if job is None:
            return None
        self._running[job.id] = job
        self._outcomes.setdefault(job.id, None)
        if self.share is None:
            return job
        self.share.begin(job.id)
        if job.run.loader_threads is not None:
            return job
        run = job.run.model_copy(update={"loader_threads": self.share.loader_threads})
        return job.model_copy(update={"run": run})

    def _next(self) -> Job | None:
        try:
            return next(self._jobs)
        except StopIteration:
            self._exhausted = True
            return None

    @property
    def is_over(self) -> bool:
        """Whether every job has ended."""
        return self._exhausted and not self._again and not self._running

    @property
    def outcomes(self) -> list[Outcome]:
        """How the jobs ended, in their order."""
        return [outcome for outcome in self._outcomes.values() if outcome is not None]

    def publish(self, event: Event) -> bool | None:
        """Pass an event on."""
        return self._on_event(event)

    def begin(self, job: Job) -> None:
        """A process starts a trial that was taken."""
        self.publish(begun(job))

    def end(self, job: Job, outcome: Outcome) -> None:
        """A trial has ended: note it, or queue the trial again when a GPU's memory was too small for all on it."""
        if outcome.out_of_memory and self.share is not None:
            if self.share.shrink(job.id):
                few = f"{self.share.per_gpu} trial{'s' * (self.share.per_gpu > 1)} per GPU"
                self._queue_again(job, f"{outcome.error}; again, with at most {few}")
                return
            outcome = replace(outcome, error=f"{outcome.error}, with a GPU to itself")
        self._release(job)
        self._outcomes[job.id] = outcome
        self.publish(ended(job, outcome))

    def died(self, job: Job, why: str) -> None:
        """A trial's process died: queue the trial again, or note that it failed."""
        self._deaths[job.id] += 1
        if self._deaths[job.id] < ATTEMPTS:
            self._queue_again(job, why)
        else:
            self.end(job, Outcome(job.id, "failed", f"{why}, {ATTEMPTS} times"))

    def queue_running_again(self, why: str) -> None:
        """All workers are gone, through no fault of their trials."""
        for job in list(self._running.values()):
            self._queue_again(job, why)

    def _queue_again(self, job: Job, why: str) -> None:
        self._release(job)
        self._again.append(job)
        self.publish(retried(job, why))

    def _release(self, job: Job) -> None:
        del self._running[job.id]
        if self.share is not None:
            self.share.end(job.id)
