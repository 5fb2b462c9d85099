"""`run_trial`: bring a trial to its end, whatever state it is in and whoever else wants it."""

import errno
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import torch

from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.trial.data import TrialData
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import find_evaluation, make_evaluations
from gonn_core.trial.events import Finished, Mended, OnProgress, PauseAsked, Waiting
from gonn_core.trial.job import Job
from gonn_core.trial.lease import Lease, LeaseHeld, LeaseLost, Watch
from gonn_core.trial.memory import OutOfMemory, shortage
from gonn_core.trial.mending import put_aside, take_over, whole_result
from gonn_core.trial.session import Session

POLL_SECONDS = 0.5
T = TypeVar("T")


class TrialFailed(RuntimeError):
    """The command that this one waited for failed; the text ends with its traceback."""


def run_trial(job: Job, on_progress: OnProgress | None = None, wait: bool = True) -> dict:
    """Train a job's trial and make its evaluations; what is there already is not done again. Returns the result.

    The result holds `state`: "done", with result.json and `evaluations`, summaries in the order of the job's requests;
    or "paused", with `samples`, after `on_progress` returned False. When another process works on the trial, waits for
    it and takes its result, or goes on from its checkpoint if it dies; with wait=False raises LeaseHeld instead. A
    failure leaves failure.json and is raised; UserError (bad data folder, disk or memory full, files of another
    version) leaves none: putting it right and calling again goes on. Damaged files of the trial are made again: see
    `mending`.
    """
    try:
        return _bring_to_its_end(job, on_progress or (lambda event: None), wait)
    except Exception as error:
        problem = shortage(error)
        if problem is None:
            raise
    # Only here is the error gone, and with it the frames that hold the trial's tensors.
    torch.cuda.empty_cache()
    raise OutOfMemory(problem)


def _bring_to_its_end(job: Job, on_progress: OnProgress, wait: bool) -> dict:
    directory = TrialDirectory(Path(job.run.runs) / job.id)
    with _one_line_when_full(directory):
        ready = _ready(job, directory)
        if ready:
            return ready
        directory.create()
        lease = _take_lease(job, directory, on_progress, wait)
        if lease is None:
            return {"state": "paused", "id": job.id, "samples": 0}
        with lease:
            return _run(job, directory, lease, on_progress)


def _ready(job: Job, directory: TrialDirectory) -> dict | None:
    """The result, when the trial is done and has all evaluations, nothing of it damaged."""
    result = whole_result(directory)
    if result is None:
        return None
    evaluations = [find_evaluation(directory, job, request) for request in job.run.evaluations]
    return None if None in evaluations else {"state": "done", **result, "evaluations": evaluations}


def _take_lease(job: Job, directory: TrialDirectory, on_progress: OnProgress, wait: bool) -> Lease | None:
    """The trial's lease, after waiting for whoever has it. None when `on_progress` asked to stop waiting."""
    began, announced, watch = time.time(), False, Watch()
    samples, total = 0, job.config.training.samples
    while True:
        try:
            lease = Lease.take(directory.path, watch if wait else None)
        except LeaseHeld as held:
            if not wait:
                raise
            if not announced:
                lines = _unless_damaged(directory.metrics)
                samples = lines[-1]["samples"] if lines else 0
            process = held.holder.process
            # Told again and again: whoever listens may have come to want no more waiting.
            told = Waiting(job.id, samples, total, pid=process.pid, host=process.host, again=announced)
            if on_progress(told) is False:
                return None
            announced = True
            time.sleep(POLL_SECONDS)
            continue
        failure = _unless_damaged(directory.failure)
        if announced and failure and failure["unix_time"] >= began:
            lease.release()
            raise TrialFailed(f"{failure['error']}\n{failure['traceback']}")
        return lease


def _unless_damaged(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Damaged:
        return None


def _run(job: Job, directory: TrialDirectory, lease: Lease, on_progress: OnProgress) -> dict:
    try:
        directory.sweep(lease)
        ready = _ready(job, directory)  # the one waited for may have done it
        if ready is None:
            for line in put_aside(job, directory, lease):
                on_progress(Mended(job.id, 0, job.config.training.samples, message=line))
            data = TrialData(job.run.store)
            result = directory.result()
            if result is None and not directory.checkpoint.exists():
                result = take_over(job, directory, lease, on_progress)
            if result is None:
                session = Session(job, directory, lease, data, on_progress)
                if not session.train():
                    return {"state": "paused", "id": job.id, "samples": session.trainer.samples}
                result = session.result(session.weights())
            make_evaluations(job, directory, lease, data, on_progress)
            if directory.result() is None:
                directory.write_json("result.json", result, lease)
            ready = _ready(job, directory)
            assert ready is not None  # result and evaluations have just been written
    except PauseAsked:  # while waiting for a twin, or while evaluating: trained to the end
        return {"state": "paused", "id": job.id, "samples": max(directory.snapshots(), default=0)}
    except (UserError, LeaseLost):
        raise
    except Exception as error:
        if not _is_full(error) and shortage(error) is None:
            _write_failure(directory, lease, error)
        raise
    total = job.config.training.samples
    on_progress(Finished(job.id, total, total, ready.get("nats"), ready["samples_per_s"], result=ready))
    return ready


def _write_failure(directory: TrialDirectory, lease: Lease, error: Exception) -> None:
    try:
        trace = "".join(traceback.format_exception(error))
        directory.write_failure(f"{type(error).__name__}: {error}", trace, lease)
    except (OSError, LeaseLost) as second:
        error.add_note(f"failure.json could not be written: {second}")


def _is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _one_line_when_full(directory: TrialDirectory):
    try:
        yield
    except OSError as error:
        if _is_full(error):
            raise InputError(
                directory.path,
                "the disk is full; make room and run the same command again, it goes on from the last checkpoint",
            ) from error
        raise
