"""Jobs on their way to a runner's slots: in order, those to be tried again first, and no sooner than there is room."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from orchestration.runners.base import OnEvent, Outcome
from orchestration.runners.gpu_slots import GpuSlots


class JobQueue:
    """What a runner takes its jobs from. `slots`: what shares the GPUs; None: there is always room."""

    def __init__(self, jobs: Iterator[Job | None], on_event: OnEvent, slots: GpuSlots | None = None):
        self._jobs, self._on_event, self.slots = jobs, on_event, slots
        self._again: list[Job] = []
        self._over = False

    def take(self) -> Job | None:
        """The next job, None when there is none now. Whoever takes it says later that it is `over`, or puts it back."""
        if self.slots is not None and not self.slots.room():
            return None
        job: Job | None = None
        if self._again:
            job = self._again.pop(0)
        else:
            try:
                job = next(self._jobs)
            except StopIteration:
                self._over = True
        if job is not None and self.slots is not None:
            net, work = load_of(job)
            if not self.slots.room(net):
                self._again.insert(0, job)
                return None
            self.slots.begin(job.id, net, work)
        return job

    def handed_out(self, job: Job) -> Job:
        """The job as its worker gets it: on a GPU with its share of loader threads, unless it asks for a number."""
        if self.slots is None or job.run.loader_threads is not None:
            return job
        run = job.run.model_copy(update={"loader_threads": self.slots.loader_threads})
        return job.model_copy(update={"run": run})

    @property
    def is_empty(self) -> bool:
        """Whether no job will ever come again, unless one is put back."""
        return self._over and not self._again

    @property
    def waiting(self) -> set[str]:
        """Ids of the jobs that were put back."""
        return {job.id for job in self._again}

    @property
    def may_fill(self) -> bool:
        """Whether a job at work may yet be put back."""
        return self.slots is not None and self.slots.running > 0

    def publish(self, event: Event) -> bool | None:
        """Pass an event on to whoever listens, and to the slots."""
        if self.slots is not None:
            self.slots.hear(event)
        return self._on_event(event)

    def over(self, job: Job, outcome: Outcome) -> Outcome:
        """A job's trial has ended so; the outcome with what is known here of its cause."""
        self._end(job)
        alone = outcome.out_of_memory and self.slots is not None
        return replace(outcome, error=f"{outcome.error}, with a GPU to itself") if alone else outcome

    def again(self, job: Job) -> None:
        """Put a job back whose process died."""
        self._end(job)
        self._again.append(job)

    def again_with_fewer(self, job: Job, outcome: Outcome) -> str | None:
        """Put a job back that ran out of memory in company, and say so; None when the outcome stands."""
        if not outcome.out_of_memory or self.slots is None or not self.slots.out_of_memory(job.id):
            return None
        self.again(job)
        return (
            f"{outcome.error}; again, with at most {self.slots.ceiling} trial{'s' * (self.slots.ceiling > 1)} on a GPU"
        )

    def _end(self, job: Job) -> None:
        if self.slots is not None:
            self.slots.end(job.id)


def load_of(job: Job) -> tuple[str, float]:
    """What decides a trial's memory, as a text to compare, and the operations of one sample in training."""
    steps: dict[str, Any] = {
        "batch_size": True,
        "batch_splits": True,
        "precision": True,
        "auxiliary": True,
        "averaging": True,
        "optimiser": {"kind"},
    }
    net = job.config.model_dump_json(include={"net": True, "features": True, "training": steps})
    if net not in _OPERATIONS:
        from gonn_core.features.sets import plane_names
        from gonn_core.nets.cost import training_flops_per_sample  # with torch, for which a CPU's queue has no use

        _OPERATIONS[net] = float(training_flops_per_sample(job.config.net, len(plane_names(job.config.features))))
    return net, _OPERATIONS[net]


_OPERATIONS: dict[str, float] = {}
