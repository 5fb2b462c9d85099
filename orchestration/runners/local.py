"""Trials in worker processes of this machine, without Ray: one process per slot, reused for trial after trial.

A worker is a fresh interpreter (spawn), connected to the driver by a pipe. It ends when the driver ends, however that
happens. When a worker dies, another process resumes its trial from the trial's directory.
"""

import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import cast

from gonn_core.trial.events import Event
from gonn_core.trial.job import Job
from orchestration.runners.base import (
    RUN_TRIAL,
    WORKER_ENVIRONMENT,
    JobQueue,
    JobSource,
    OnEvent,
    Outcome,
    environment,
    run_job,
)
from orchestration.runners.gpus import places, seeing


class LocalRunner:
    """Runner on this machine's cores, or on its GPUs with `per_gpu` trials on each (None: see `places`)."""

    def __init__(self, function: str = RUN_TRIAL, per_gpu: int | None = None):
        self._function, self._per_gpu = function, per_gpu

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
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
                if worker.gpu is not None:
                    worker.stop()  # frees the GPU memory that its process holds
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
            worker.send("pause")  # at its next checkpoint
        return
    worker.job = None
    if isinstance(message, str):
        queue.died(job, message)
        return
    if message.state == "failed":
        worker.stop()  # a CUDA error or an exhausted heap outlives the trial that met it
    queue.end(job, message)


class _Worker:
    """The driver's side of a worker process. `job` is the one that it runs, None when idle."""

    def __init__(self, function: str, gpu: str | None):
        self._function, self.gpu = function, gpu
        self.job: Job | None = None
        self._process: SpawnProcess | None = None
        self.pipe: Connection

    def give(self, job: Job) -> None:
        """Hand over a job; the process is started with the first."""
        if self._process is None:
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self._process = context.Process(target=_work, args=(theirs, self._function), daemon=True)
            with environment(WORKER_ENVIRONMENT | (seeing([self.gpu]) if self.gpu is not None else {})):
                self._process.start()
            theirs.close()  # now the worker holds the only copy: its death is the end of this pipe
        self.job = job
        self.send(job)

    def send(self, message: Job | str) -> None:
        """Send a job, or a request to pause."""
        with suppress(BrokenPipeError, ConnectionResetError):  # it just died: `listen` notices
            self.pipe.send(message)

    def listen(self) -> Event | Outcome | str:
        """The next message; why there is none when the process has ended."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):  # also in the middle of a message
            assert self._process is not None, "a worker with a job has a process"
            self._process.join(1)
            code = self._process.exitcode
            self.stop()
            return f"the worker process {how_it_ended(code)}"

    def stop(self) -> None:
        """Kill the process, if there is one: files are written atomically. The next job starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self.pipe.close()
            self._process = None


def how_it_ended(code: int | None) -> str:
    """What a process did, by its exit code; None: it lives, but closed its pipe."""
    if code is None:
        return "does not answer"
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def _work(pipe: Connection, function: str) -> None:
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
    """Exit when the driver has ended, killed or not: a worker must not train next to its successor."""
    driver = parent_process()
    assert driver is not None, "a worker has a driver"
    connection.wait([driver.sentinel])
    os._exit(1)
