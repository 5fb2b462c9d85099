"""Trials in worker processes of this machine, without Ray: one process per slot, used for trial after trial.

A worker is a fresh interpreter (spawn) that a pipe connects to the driver. It ends when the driver ends, however that happens.
A worker that dies takes down only the attempt it was at: another process carries on from the trial's directory.
"""

import os
import signal
import threading
import traceback
from collections.abc import Iterable
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import NamedTuple

from gonn_core.errors import UserError
from gonn_core.trial.job import Job
from orchestration.runner import ATTEMPTS, ONE_THREAD, RUN_TRIAL, OnEvent, Outcome, describe, distinct, ended, load_function, places, retried


class Task(NamedTuple):
    """A job at its first or a later attempt."""

    job: Job
    attempt: int


class LocalRunner:
    """Runner on this machine's cores and GPUs."""

    def __init__(self, function: str = RUN_TRIAL):
        self._function = function

    def run(self, jobs: Iterable[Job], slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. An interrupt stops the workers and is raised again; every trial carries on at the next call."""
        tasks = (Task(job, 1) for job in distinct(jobs))
        first = next(tasks, None)
        if first is None:
            return []
        where = places(jobs, slots, first.job.run.device)
        retries, outcomes = [first], {}
        workers = [_Worker(self._function, where.gpu(slot)) for slot in range(where.slots)]
        try:
            while True:
                for worker in workers:
                    if worker.task is None and (task := retries.pop() if retries else next(tasks, None)):
                        outcomes.setdefault(task.job.id, None)
                        worker.give(task)
                busy = {worker.pipe: worker for worker in workers if worker.task}
                if not busy:
                    return list(outcomes.values())
                for pipe in connection.wait(busy):
                    said = busy[pipe].listen()
                    task = busy[pipe].task
                    if isinstance(said, dict):
                        if on_event(said) is False:
                            busy[pipe].ask_to_pause()
                        continue
                    busy[pipe].task = None
                    if isinstance(said, Death) and task.attempt < ATTEMPTS:
                        retries.append(Task(task.job, task.attempt + 1))
                        on_event(retried(task.job, said.why))
                        continue
                    if isinstance(said, Death):
                        said = Outcome(task.job.id, "failed", f"{said.why}, {ATTEMPTS} times")
                    elif said.state == "failed":
                        busy[pipe].stop()  # a CUDA error or an exhausted heap outlives the trial that met it
                    outcomes[task.job.id] = said
                    on_event(ended(task.job, said))
        finally:
            for worker in workers:
                worker.stop()


class Death(NamedTuple):
    """A worker's process ended in the middle of a task."""

    why: str


class _Worker:
    """The driver's side of a worker process; `task` is what it is at, None when idle."""

    def __init__(self, function: str, gpu: str | None):
        self._function, self._gpu = function, gpu
        self.task = self._process = None

    def give(self, task: Task) -> None:
        """Hand over a task; the process is started with the first."""
        if self._process is None:
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self._process = context.Process(target=_work, args=(theirs, self._function), daemon=True)
            with _environment({**ONE_THREAD, **({"CUDA_VISIBLE_DEVICES": self._gpu} if self._gpu is not None else {})}):
                self._process.start()
            theirs.close()  # now the worker holds the only copy: its death is the end of this pipe
        self.task = task
        self._send(task.job)

    def ask_to_pause(self) -> None:
        """Have the trial stop at its next checkpoint."""
        self._send("pause")

    def listen(self) -> dict | Outcome | Death:
        """The next message; Death, with the process cleared away, when there is none any more."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):  # also in the middle of a message
            self._process.join(1)
            code = self._process.exitcode
            self.stop()
            if code is None:
                return Death("the worker process lost its pipe")
            return Death(f"the worker process was killed by {signal.Signals(-code).name}" if code < 0 else f"the worker process ended with code {code}")

    def stop(self) -> None:
        """End the process, if there is one, at once: whatever it wrote is complete or invisible. The next task starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self.pipe.close()
            self._process = None

    def _send(self, message) -> None:
        try:
            self.pipe.send(message)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it just died: `listen` finds out, and the task is retried


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
    run_trial = load_function(function)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        if isinstance(job, Job):  # else a wish to pause that came too late
            pipe.send(_run(run_trial, job, pipe))


def _run(run_trial, job: Job, pipe) -> Outcome:
    """One trial to its end, telling the driver on the way."""

    def tell(event: dict) -> bool:
        if event["event"] != "finished":  # the driver says that itself, once it has the outcome
            pipe.send(event)
        return not pipe.poll()  # all that the driver ever sends meanwhile is the wish to pause

    try:
        result = run_trial(job, tell)
    except UserError as error:
        return Outcome(job.id, "failed", describe(error))
    except Exception as error:  # whatever a trial raises is its outcome: the study goes on
        return Outcome(job.id, "failed", describe(error), traceback.format_exc())
    return Outcome(job.id, result["state"])


def _end_with_driver():
    """Leave when the driver is gone, killed or not: a worker must never train beside its successor."""
    connection.wait([parent_process().sentinel])
    os._exit(1)
