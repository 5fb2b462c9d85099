"""Trials in worker processes of this machine, without Ray: one process per slot, reused for trial after trial.

A worker is a fresh interpreter (spawn), connected to the driver by a pipe. It ends when the driver ends, however that
happens. When a worker dies, another process resumes its trial from the trial's directory.
"""

import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.connection import Connection

from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from orchestration.runners.base import (
    RUN_TRIAL,
    WORKER_ENVIRONMENT,
    JobQueue,
    JobSource,
    OnEvent,
    TrialOutcome,
    run_job,
)
from orchestration.runners.children import Child, ChildEnded, wait_for_parent
from orchestration.runners.gpus import places, seeing

WORK = "orchestration.runners.local:work"
"""Main function of a worker, by its path."""


class LocalRunner:
    """Runner on this machine's cores, or on its GPUs with `per_gpu` trials on each (None: see `places`)."""

    def __init__(self, function: str = RUN_TRIAL, per_gpu: int | None = None):
        self._function, self._per_gpu = function, per_gpu

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[TrialOutcome]:
        """See `Runner.run`. An interrupt stops the workers and is raised again; trials resume at the next call."""
        queue = JobQueue(jobs, on_event)
        if queue.first is None:
            return []
        where = places(jobs, slots, queue.first.run.device, self._per_gpu)
        queue.gpus, queue.per_gpu = len(where.gpus), where.per_gpu
        workers = [_Worker(self._function, where.gpu(slot)) for slot in range(where.slots)]
        try:
            while True:
                _hand_out(queue, workers)
                busy = {worker.child.pipe: worker for worker in workers if worker.child and worker.job}
                if not busy:
                    return queue.outcomes
                for pipe in connection.wait(busy):
                    _listen(queue, busy[pipe])  # type: ignore[index]
        finally:
            for worker in workers:
                worker.stop()


def _hand_out(queue: JobQueue, workers: list["_Worker"]) -> None:
    """Give jobs to idle workers while there are any, on the GPU with the fewest trials."""
    while idle := [worker for worker in workers if worker.job is None]:
        job = queue.take()
        if job is None:
            for worker in idle:
                if worker.gpu is not None:
                    worker.stop()  # frees the GPU memory that its process holds
            return
        queue.begin(job)
        load = Counter(worker.gpu for worker in workers if worker.job)
        min(idle, key=lambda worker: load[worker.gpu]).give(job)


def _listen(queue: JobQueue, worker: "_Worker") -> None:
    """Pass on what a worker sent."""
    job, child = worker.job, worker.child
    assert job is not None and child is not None, "an idle worker sends nothing"
    try:
        message = child.receive()
    except ChildEnded as end:
        worker.job = None
        worker.stop()
        queue.died(job, f"the worker process {end}")
        return
    if isinstance(message, Event):
        if queue.publish(message) is False:
            child.send("pause")  # at its next checkpoint
        return
    worker.job = None
    if message.state == "failed":
        worker.stop()  # a CUDA error or an exhausted heap outlives the trial that met it
    queue.end(job, message)


class _Worker:
    """A place for one trial at a time. `job`: the one that runs, None when idle; `child`: its process, if started."""

    def __init__(self, function: str, gpu: str | None):
        self._function, self.gpu = function, gpu
        self.job: Job | None = None
        self.child: Child | None = None

    def give(self, job: Job) -> None:
        """Hand over a job; the process is started with the first."""
        if self.child is None:
            variables = WORKER_ENVIRONMENT | (seeing([self.gpu]) if self.gpu is not None else {})
            self.child = Child(WORK, self._function, variables=variables)
        self.job = job
        self.child.send(job)

    def stop(self) -> None:
        """Kill the process, if there is one. The next job starts another."""
        if self.child is not None:
            self.child.kill()
            self.child = None


def work(pipe: Connection, function: str) -> None:
    """Main function of a worker: trial after trial until the driver closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the whole group; the driver decides
    threading.Thread(target=_end_with_driver, daemon=True).start()

    def report(event: Event) -> bool:
        pipe.send(event)
        return not pipe.poll()  # meanwhile the driver sends nothing but a request to pause

    with suppress(EOFError):
        while True:
            if isinstance(job := pipe.recv(), Job):  # else a request to pause that came too late
                pipe.send(run_job(function, job, report))


def _end_with_driver() -> None:
    """Exit when the driver has ended: a worker must not train next to its successor."""
    wait_for_parent()
    os._exit(1)
