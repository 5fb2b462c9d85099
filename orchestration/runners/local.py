"""Trials in worker processes of this machine, without Ray: one process per slot, used for trial after trial.

A worker is a fresh interpreter (spawn) that a pipe connects to the driver. It ends when the driver ends, however that
happens. A worker that dies takes down only the attempt it was at: another process carries on from the trial's
directory.
"""

import os
import signal
import threading
from collections import Counter
from contextlib import contextmanager
from itertools import chain
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple, cast

from gonn_core.trial.events import Event, Finished
from gonn_core.trial.job import Job
from orchestration.runners.base import (
    ATTEMPTS,
    RUN_TRIAL,
    WORKER_ENVIRONMENT,
    JobSource,
    OnEvent,
    Outcome,
    begun,
    distinct,
    ended,
    failure,
    load_function,
    places,
    retried,
)
from orchestration.runners.gpu_slots import shared_gpus
from orchestration.runners.mps import Sharing, sharing
from orchestration.runners.queue import JobQueue
from orchestration.runners.ray_scratch import sweep


class LocalRunner:
    """Runner on this machine's cores and GPUs."""

    def __init__(self, function: str = RUN_TRIAL):
        self._function = function

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. An interrupt stops the workers and is raised again; every trial carries on at the next
        call."""
        source = distinct(jobs)
        first = next(source, None)
        if first is None:
            return []
        sweep(Path(first.run.runs))
        where = places(jobs, slots, first.run.device)
        study = _Study(JobQueue(chain([first], source), on_event, shared_gpus(where, slots)))
        with sharing(where) as shared:
            return _run_on(study, [_Worker(self._function, where.gpu(slot), shared) for slot in range(where.most)])


def _run_on(study: "_Study", workers: list["_Worker"]) -> list[Outcome]:
    """Have the workers run a study's jobs; none of them is left afterwards."""
    try:
        while True:
            _hand_out(study, workers)
            busy = {worker.pipe: worker for worker in workers if worker.job is not None}
            if not busy:
                return study.ended()
            for pipe in connection.wait(busy):
                worker = busy[cast(Connection, pipe)]
                study.hear(worker, worker.listen())
    finally:
        for worker in workers:
            worker.stop()


def _hand_out(study: "_Study", workers: list["_Worker"]) -> None:
    """Give jobs to idle workers while there is room, on the GPU that has the fewest."""
    while idle := [worker for worker in workers if worker.job is None]:
        job = study.next_job()
        if job is None:
            for worker in idle:
                worker.release()
            return
        load = Counter(worker.gpu for worker in workers if worker.job)
        min(idle, key=lambda worker: load[worker.gpu]).give(job, study.handed_out(job))


class _Study:
    """Jobs and their outcomes; what workers say of them."""

    def __init__(self, queue: JobQueue):
        self._queue = queue
        self._deaths: Counter[str] = Counter()
        self.outcomes: dict[str, Outcome | None] = {}
        """By trial id, in the order of the jobs; None while it runs."""

    def ended(self) -> list[Outcome]:
        """How all jobs ended, in their order."""
        return [outcome for outcome in self.outcomes.values() if outcome is not None]

    def next_job(self) -> Job | None:
        """The next job for which there is room."""
        job = self._queue.take()
        if job is not None:
            self.outcomes.setdefault(job.id, None)
            self._queue.publish(begun(job))
        return job

    def handed_out(self, job: Job) -> Job:
        """The job as a worker gets it."""
        return self._queue.handed_out(job)

    def hear(self, worker: "_Worker", message: "Event | Outcome | Death") -> None:
        """Take in what a worker said."""
        job = worker.job
        assert job is not None, "an idle worker says nothing"
        if isinstance(message, Event):
            if self._queue.publish(message) is False:
                worker.ask_to_pause()
            return
        worker.job = None
        if isinstance(message, Death):
            self._deaths[job.id] += 1
            if self._deaths[job.id] < ATTEMPTS:
                self._queue.again(job)
                self._queue.publish(retried(job, message.why))
                return
            message = Outcome(job.id, "failed", f"{message.why}, {ATTEMPTS} times")
        elif message.state == "failed":
            worker.stop()  # a CUDA error or an exhausted heap outlives the trial that met it
        if again := self._queue.again_with_fewer(job, message):
            self._queue.publish(retried(job, again))
            return
        self.outcomes[job.id] = outcome = self._queue.over(job, message)
        self._queue.publish(ended(job, outcome))


class Death(NamedTuple):
    """A worker's process ended in the middle of a trial."""

    why: str


class _Worker:
    """The driver's side of a worker process; `job` is what it is at, None when idle."""

    def __init__(self, function: str, gpu: str | None, shared: Sharing):
        self._function, self.gpu = function, gpu
        self._environment = WORKER_ENVIRONMENT | (shared.environment(gpu) if gpu is not None else {})
        self.job: Job | None = None
        self._process: SpawnProcess | None = None
        self.pipe: Connection

    def give(self, job: Job, handed_out: Job) -> None:
        """Hand over a job, as its worker gets it; the process is started with the first."""
        if self._process is None:
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self._process = process = context.Process(target=_work, args=(theirs, self._function), daemon=True)
            with _environment(self._environment):
                process.start()
            theirs.close()  # now the worker holds the only copy: its death is the end of this pipe
        self.job = job
        self._send(handed_out)

    def ask_to_pause(self) -> None:
        """Have the trial stop at its next checkpoint."""
        self._send("pause")

    def listen(self) -> Event | Outcome | Death:
        """The next message; Death, with the process cleared away, when there is none any more."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):  # also in the middle of a message
            assert self._process is not None, "a worker with a job has a process"
            self._process.join(1)
            code = self._process.exitcode
            self.stop()
            if code is None:
                return Death("the worker process lost its pipe")
            return Death(
                f"the worker process was killed by {signal.Signals(-code).name}"
                if code < 0
                else f"the worker process ended with code {code}"
            )

    def stop(self) -> None:
        """End the process, if there is one, at once: whatever it wrote is complete or invisible. The next job starts
        another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self.pipe.close()
            self._process = None

    def release(self) -> None:
        """Idle for now: what its process holds of a GPU's memory is for the others."""
        if self.gpu is not None:
            self.stop()

    def _send(self, message) -> None:
        try:
            self.pipe.send(message)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it just died: `listen` finds out, and the job is tried again


@contextmanager
def _environment(values: dict[str, str]):
    """Environment that children started within inherit."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(pipe, function: str):
    """A worker's life: trial after trial until the driver closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the whole group; the driver decides
    threading.Thread(target=_end_with_driver, daemon=True).start()
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        if isinstance(job, Job):  # else a wish to pause that came too late
            pipe.send(_run(function, job, pipe))


def _run(function: str, job: Job, pipe) -> Outcome:
    """One trial to its end, telling the driver on the way."""

    def report(event: Event) -> bool:
        if not isinstance(event, Finished):  # the driver says that itself, once it has the outcome
            pipe.send(event)
        return not pipe.poll()  # all that the driver ever sends meanwhile is the wish to pause

    try:
        result = load_function(function)(job, report)
    except Exception as error:  # whatever a trial raises is its outcome: the study goes on
        return failure(job, error)
    return Outcome(job.id, result["state"])


def _end_with_driver():
    """Leave when the driver is gone, killed or not: a worker must never train beside its successor."""
    driver = parent_process()
    assert driver is not None, "a worker has a driver"
    connection.wait([driver.sentinel])
    os._exit(1)
