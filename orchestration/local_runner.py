"""Trials in worker processes of this machine, without Ray: one process per slot, used for trial after trial.

A worker is a fresh interpreter (spawn) that a pipe connects to the driver. It ends when the driver ends, however that happens.
A worker that dies takes down only the attempt it was at: another process carries on from the trial's directory.
"""

import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Sequence
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process

from gonn_core.errors import UserError
from orchestration.runner import ATTEMPTS, ONE_THREAD, RUN_TRIAL, Event, OnEvent, Outcome, describe, distinct, load_function, places, progress_event


class LocalRunner:
    """Runner on this machine's cores and GPUs."""

    def __init__(self, function: str = RUN_TRIAL):
        self._function = function

    def run(self, jobs: Sequence, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. An interrupt stops the workers and is raised again; every trial carries on at the next call."""
        pending = distinct(jobs)
        if not pending:
            return []
        where = places(list(pending.values()), slots)
        queue = deque((trial, job, 1) for trial, job in pending.items())
        outcomes = {}
        workers = [_Worker(self._function, where.gpu(slot)) for slot in range(where.slots)]
        try:
            while len(outcomes) < len(pending):
                for worker in workers:
                    if worker.task is None and queue:
                        worker.give(queue.popleft())
                for ready in connection.wait([worker.pipe for worker in workers if worker.task]):
                    worker = next(worker for worker in workers if worker.pipe is ready)
                    trial, job, attempt = worker.task
                    try:
                        message = worker.pipe.recv()
                    except (EOFError, OSError):  # also in the middle of a message
                        why = worker.autopsy()
                        if attempt < ATTEMPTS:
                            queue.appendleft((trial, job, attempt + 1))
                            on_event(Event("retried", trial, message=why))
                            continue
                        message = Outcome(trial, "failed", f"{why}, {attempt} times")
                    if isinstance(message, Event):
                        on_event(message)
                        continue
                    outcomes[trial] = message
                    worker.task = None
                    if message.state == "failed":  # a CUDA error or an exhausted heap outlives the trial that met it
                        worker.stop()
                    on_event(Event("finished" if message.state == "done" else "failed", trial, message=message.error))
        finally:
            for worker in workers:
                worker.stop()
        return [outcomes[trial] for trial in pending]


class _Worker:
    """The driver's side of a worker process; `task` is what it is at, None when idle."""

    def __init__(self, function: str, gpu: str | None):
        self._function, self._gpu = function, gpu
        self.task = self._process = None

    def give(self, task):
        """Hand over (trial, job, attempt); the process is started with the first."""
        if self._process is None:
            context = get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self._process = context.Process(target=_work, args=(theirs, self._function), daemon=True)
            with _environment({**ONE_THREAD, **({"CUDA_VISIBLE_DEVICES": self._gpu} if self._gpu is not None else {})}):
                self._process.start()
            theirs.close()  # now the worker holds the only copy: its death is the end of this pipe
        self.task = task
        try:
            self.pipe.send(task[:2])
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died while idle: the pipe's end is read next and the task retried

    def autopsy(self) -> str:
        """How the process ended, once its pipe has; the next task starts another."""
        self._process.join(1)
        code = self._process.exitcode
        self.stop()
        self.task = None
        if code is None:
            return "the worker process lost its pipe"
        return f"the worker process was killed by {signal.Signals(-code).name}" if code < 0 else f"the worker process ended with code {code}"

    def stop(self):
        """End the process, if there is one, at once: whatever it wrote is complete or invisible. The next task starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self.pipe.close()
            self._process = None


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
            trial, job = pipe.recv()
        except EOFError:
            return
        pipe.send(Event("started", trial))
        try:
            run_trial(job, lambda line, trial=trial: pipe.send(progress_event(trial, line)))
        except UserError as error:
            pipe.send(Outcome(trial, "failed", describe(error)))
        except Exception as error:  # whatever a trial raises is its outcome: the study goes on
            pipe.send(Outcome(trial, "failed", describe(error), traceback.format_exc()))
        else:
            pipe.send(Outcome(trial, "done"))


def _end_with_driver():
    """Leave when the driver is gone, killed or not: a worker must never train beside its successor."""
    connection.wait([parent_process().sentinel])
    os._exit(1)
