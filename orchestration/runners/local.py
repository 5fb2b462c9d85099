"""Trials in worker processes of this machine, without Ray: one process per slot, reused for trial after trial.

A worker is a fresh interpreter (spawn), connected to the driver by a pipe. It ends when the driver ends, however that
happens. When a worker dies, another process resumes its trial from the trial's directory.
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
from typing import NamedTuple, cast

from gonn_core.trial.events import Event, Finished
from gonn_core.trial.job import Job
from orchestration.runners.base import (
    RUN_TRIAL,
    WORKER_ENVIRONMENT,
    JobSource,
    OnEvent,
    Outcome,
    distinct,
    failure,
    load_function,
    places,
)
from orchestration.runners.gpus import seeing
from orchestration.runners.queue import GpuShare, JobQueue


class LocalRunner:
    """Runner on this machine's cores, or on its GPUs with `per_gpu` trials on each (None: see `places`)."""

    def __init__(self, function: str = RUN_TRIAL, per_gpu: int | None = None):
        self._function, self._per_gpu = function, per_gpu

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. An interrupt stops the workers and is raised again; trials resume at the next call."""
        source = distinct(jobs)
        first = next(source, None)
        if first is None:
            return []
        where = places(jobs, slots, first.run.device, self._per_gpu)
        share = GpuShare(len(where.gpus), where.per_gpu) if where.gpus else None
        queue = JobQueue(chain([first], source), on_event, share)
        workers = [_Worker(self._function, where.gpu(slot)) for slot in range(where.slots)]
        try:
            while True:
                _hand_out(queue, workers)
                busy = {worker.pipe: worker for worker in workers if worker.job is not None}
                if not busy:
                    return queue.outcomes
                for pipe in connection.wait(busy):
                    _listen(queue, busy[cast(Connection, pipe)])
        finally:
            for worker in workers:
                worker.stop()


def _hand_out(queue: JobQueue, workers: list["_Worker"]) -> None:
    """Give jobs to idle workers while there are any, on the GPU with the fewest trials."""
    while idle := [worker for worker in workers if worker.job is None]:
        job = queue.take()
        if job is None:
            for worker in idle:
                worker.release()
            return
        queue.begin(job)
        load = Counter(worker.gpu for worker in workers if worker.job)
        min(idle, key=lambda worker: load[worker.gpu]).give(job)


def _listen(queue: JobQueue, worker: "_Worker") -> None:
    """Pass on what a worker sent."""
    job, message = worker.job, worker.listen()
    assert job is not None, "an idle worker sends nothing"
    if isinstance(message, Event):
        if queue.publish(message) is False:
            worker.ask_to_pause()
        return
    worker.job = None
    if isinstance(message, Death):
        queue.died(job, message.why)
        return
    if message.state == "failed":
        worker.stop()  # a CUDA error or an exhausted heap outlives the trial that met it
    queue.end(job, message)


class Death(NamedTuple):
    """A worker's process ended in the middle of a trial."""

    why: str


class _Worker:
    """The driver's side of a worker process. `job` is the one that it runs, None when idle."""

    def __init__(self, function: str, gpu: str | None):
        self._function, self.gpu = function, gpu
        self._environment = WORKER_ENVIRONMENT | (seeing([gpu]) if gpu is not None else {})
        self.job: Job | None = None
        self._process: SpawnProcess | None = None
        self.pipe: Connection

    def give(self, job: Job) -> None:
        """Hand over a job; the process is started with the first."""
        if self._process is None:
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self._process = process = context.Process(target=_work, args=(theirs, self._function), daemon=True)
            with _environment(self._environment):
                process.start()
            theirs.close()  # now the worker holds the only copy: its death is the end of this pipe
        self.job = job
        self._send(job)

    def ask_to_pause(self) -> None:
        """Have the trial stop at its next checkpoint."""
        self._send("pause")

    def listen(self) -> Event | Outcome | Death:
        """The next message; Death when the process has ended."""
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
        """Kill the process, if there is one: files are written atomically. The next job starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self.pipe.close()
            self._process = None

    def release(self) -> None:
        """Idle for now: free the memory of the GPU that its process holds."""
        if self.gpu is not None:
            self.stop()

    def _send(self, message) -> None:
        try:
            self.pipe.send(message)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it just died: `listen` finds out, and the job is tried again


@contextmanager
def _environment(values: dict[str, str]):
    """Environment variables that processes started in this context inherit."""
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
    """Main function of a worker: trial after trial until the driver closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the whole group; the driver decides
    threading.Thread(target=_end_with_driver, daemon=True).start()
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        if isinstance(job, Job):  # else a request to pause that came too late
            pipe.send(_run(function, job, pipe))


def _run(function: str, job: Job, pipe) -> Outcome:
    """Run one trial, sending its events to the driver."""

    def report(event: Event) -> bool:
        if not isinstance(event, Finished):  # the driver publishes it with the outcome
            pipe.send(event)
        return not pipe.poll()  # meanwhile the driver sends nothing but a request to pause

    try:
        result = load_function(function)(job, report)
    except Exception as error:  # any exception is the trial's outcome: the study continues
        return failure(job, error)
    return Outcome(job.id, result["state"])


def _end_with_driver():
    """Exit when the driver has ended, killed or not: a worker must not train next to its successor."""
    driver = parent_process()
    assert driver is not None, "a worker has a driver"
    connection.wait([driver.sentinel])
    os._exit(1)
