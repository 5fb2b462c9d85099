"""The runner under Ray Tune. Ray lives in a child process, because its client aborts the process it is in, or waits for
ever, when Ray dies; the child is then started once more, and the trials resume.

The child (`ray_tune.serve`) sends tuples through a pipe: a name and values. It waits for an answer to `next` and `said`
alone.
"""

import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from gonn_core.errors import InputError, UserError
from gonn_core.trial.job import Job
from gonn_core.trial.lease import started
from orchestration.runners.base import RUN_TRIAL, JobSource, OnEvent, Outcome, distinct, places
from orchestration.runners.gpus import seeing
from orchestration.runners.queue import GpuShare, JobQueue
from orchestration.runners.ray_tune import ADDRESS, SILENCE_SECONDS, START_SECONDS, Plan, serve

STARTS = 2
"""How often a private Ray is started."""
NAME = "gonn-ray-"
"""Start of the name of a scratch folder; the process id of its command follows."""
TMP = Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())
"""Where the scratch folders of private clusters are: sockets need a short path, so not under TMPDIR."""


class RayRunner:
    """Runner under Ray Tune: on a private cluster on this machine, or on the one at `address`, of which this machine
    must be a node. per_gpu: trials on each GPU (None: see `places`)."""

    def __init__(self, address: str | None = None, function: str = RUN_TRIAL, per_gpu: int | None = None):
        self._address, self._function, self._per_gpu = address, function, per_gpu

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. On a cluster the folders of the jobs must be shared and absolute.

        Raises UserError when a private Ray dies twice, or a cluster once; the same call then resumes.
        """
        source = distinct(jobs)
        first = next(source, None)
        if first is None:
            return []
        runs = Path(first.run.runs)
        _remove_leftovers(runs)
        where = places(jobs, slots, first.run.device, self._per_gpu)
        queue = JobQueue(chain([first], source), on_event)
        if where.gpus and not self._address:
            queue.share = GpuShare(len(where.gpus), where.per_gpu)
        for start in range(1, 1 + STARTS):
            with _scratch(runs if self._address else None) as folder:
                plan = Plan(
                    self._address,
                    self._function,
                    slots if self._address else where.slots,
                    len(where.gpus),
                    first.run.runs,
                    first.run.store,
                    folder,
                    seeing(where.gpus) if where.gpus else {},
                )
                why = self._serve(queue, plan, uses_gpus=first.run.device != "cpu")
            if why is None:
                return queue.outcomes
            if self._address:
                raise UserError(
                    f"{ADDRESS}={self._address}: the cluster is gone ({why}); once it is back, the same command resumes"
                )
            if start < STARTS:
                queue.queue_running_again(f"Ray ended ({why}); it is started again")
        raise UserError(f"Ray ended twice ({why}); the same command resumes, with --runner local without Ray")

    def _serve(self, queue: JobQueue, plan: Plan, uses_gpus: bool) -> str | None:
        """Have a child run the jobs. None when all have ended, else how Ray died."""
        jobs: dict[str, Job] = {}  # by Tune's id of the trial
        child = _Child(plan)
        try:
            while True:
                match child.listen():
                    case "up", cpus, gpus:
                        if plan.address and gpus and uses_gpus:
                            queue.share = GpuShare(gpus, self._per_gpu or 1, cpus)
                    case "next", trial:
                        job = queue.take()
                        if job is not None:
                            jobs[trial] = job
                        child.answer((job, 1 / queue.share.per_gpu if queue.share else 0.0, queue.is_over))
                    case "begun", trial:
                        queue.begin(jobs[trial])
                    case "said", trial, messages:
                        child.answer(_hear(queue, jobs, trial, messages))
                    case "died", trial:
                        queue.died(jobs.pop(trial), "the worker process died")
                    case ("over",):
                        return None
                    case "down", why:
                        return why
                    case "refused", line:
                        raise UserError(line)
                    case "broken", line, traceback:
                        print(traceback, file=sys.stderr)
                        raise RuntimeError(f"under Ray: {line}")
        finally:
            child.end()


def _hear(queue: JobQueue, jobs: dict[str, Job], trial: str, messages: list) -> bool:
    """Pass on events and the outcome of a trial; whether it is to stop."""
    stop = False
    for message in messages:
        if isinstance(message, Outcome):
            queue.end(jobs.pop(trial), message)
        elif queue.publish(message) is False:
            stop = True
    if stop and trial in jobs:
        job = jobs.pop(trial)
        queue.end(job, Outcome(job.id, "paused"))
    return stop


class _Child:
    """Ray's process, leader of a process group in which everything is that Ray starts on this machine."""

    def __init__(self, plan: Plan):
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, plan), daemon=True, name="ray")
        self._process.start()
        theirs.close()  # now the child holds the only copy: its death is the end of this pipe
        self._silence, self._is_up = 0.0, False

    def listen(self) -> tuple:
        """The next message; `("down", why)` when the child has ended, or Ray was silent for too long."""
        while True:
            before = time.monotonic()
            ready = self._pipe.poll(1.0)
            self._silence += min(time.monotonic() - before, 1.0)  # a pause of this process itself does not count
            if not ready:
                if self._silence < (SILENCE_SECONDS if self._is_up else START_SECONDS):
                    continue
                return "down", f"no answer for {self._silence:.0f} seconds"
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                self._process.join(1)
                return "down", f"its process {_how_it_ended(self._process.exitcode)}"
            if message != ("beat",):
                self._is_up |= message[0] == "up"
                return message
            self._silence = 0.0

    def answer(self, value: object) -> None:
        """Send what the child waits for."""
        with suppress(BrokenPipeError, ConnectionResetError):  # it just died: `listen` notices
            self._pipe.send(value)

    def end(self) -> None:
        """Kill the child and all that Ray started on this machine: files of trials are written atomically."""
        leader = self._process.pid
        assert leader is not None, "the process was started"
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        for _ in range(100):  # until all are gone
            try:
                os.killpg(leader, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                break
            time.sleep(0.05)
        self._process.close()
        self._pipe.close()


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "does not answer"
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


@contextmanager
def _scratch(shared: Path | None) -> Iterator[Path]:
    """A folder for Ray's session and Tune's bookkeeping, removed afterwards; on a cluster in `shared`, which every node
    sees. Raises InputError."""
    parent, prefix = shared or TMP, f"{NAME}{os.getpid()}-"
    if shared is not None:
        prefix = f".{prefix}{platform.node()}-"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    except OSError as error:
        raise InputError(parent, f"cannot be written ({error.strerror})") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(runs: Path) -> None:
    """Remove the scratch folders of this machine's commands that were killed."""
    for folder in [*TMP.glob(f"{NAME}*"), *runs.glob(f".{NAME}*-{platform.node()}-*")]:
        pid = folder.name.lstrip(".").removeprefix(NAME).split("-")[0]
        if pid.isdigit() and started(int(pid)) is None:
            shutil.rmtree(folder, ignore_errors=True)
