"""`run_trial`: train and evaluate a trial, whatever state it is in and whichever other processes need it."""

import errno
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import torch

from gonn_core.errors import Damaged, InputError, OutOfMemory, UserError, shortage
from gonn_core.trial.data import TrialData
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import find_evaluation, make_evaluations
from gonn_core.trial.events import Finished, Mended, OnProgress, PauseAsked, Waiting
from gonn_core.trial.job import Job
from gonn_core.trial.lease import Lease, LeaseHeld, LeaseLost
from gonn_core.trial.mending import remove_damaged, whole_result
from gonn_core.trial.session import Session

POLL_SECONDS = 0.5
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
T = TypeVar("T")


class TrialFailed(RuntimeError):
    """The command that this one waited for failed; the text ends with its traceback."""


def run_trial(job: Job, on_progress: OnProgress | None = None) -> dict:
    """Train a job's trial and make its evaluations, as far as they are missing. Returns the result.

    The result holds `state`: "done", with result.json and `evaluations`, summaries in the order of the job's requests;
    or "paused", with `samples`, after `on_progress` returned False. When another process works on the trial, waits for
    it and takes its result, or resumes from its checkpoint if it dies. A failure leaves failure.json and is raised;
    UserError (bad data folder, disk or memory full, files of another version) leaves none: after correcting the cause,
    the same call resumes. Damaged files of the trial are made again: see `mending`.
    """
    directory = TrialDirectory(Path(job.run.runs) / job.id)
    try:
        return _complete(job, directory, on_progress or (lambda event: None))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            problem = "the disk is full; make room and run the same command again, it resumes from the last checkpoint"
            raise InputError(directory.path, problem) from error
        memory = shortage(error)
        if memory is None:
            raise
    # Outside the handler the error is released, and with it the frames that hold the trial's tensors.
    torch.cuda.empty_cache()
    raise OutOfMemory(memory)


def _complete(job: Job, directory: TrialDirectory, on_progress: OnProgress) -> dict:
    ready = _ready(job, directory)
    if ready:
        return ready
    directory.create()
    lease = _take_lease(job, directory, on_progress)
    if lease is None:
        return {"state": "paused", "id": job.id, "samples": 0}
    with lease:
        try:
            return _run(job, directory, lease, on_progress)
        except PauseAsked:  # while evaluating: trained to the end
            return {"state": "paused", "id": job.id, "samples": max(directory.snapshots(), default=0)}
        except (UserError, LeaseLost):
            raise
        except Exception as error:
            is_full = isinstance(error, OSError) and error.errno in _DISK_FULL
            if not is_full and shortage(error) is None:
                with suppress(OSError, LeaseLost):
                    trace = "".join(traceback.format_exception(error))
                    directory.write_failure(f"{type(error).__name__}: {error}", trace, lease)
            raise


def _ready(job: Job, directory: TrialDirectory) -> dict | None:
    """The result, when the trial is done and has all evaluations, none of its files damaged."""
    result = whole_result(directory)
    if result is None:
        return None
    evaluations = [find_evaluation(directory, job, request) for request in job.run.evaluations]
    return None if None in evaluations else {"state": "done", **result, "evaluations": evaluations}


def _take_lease(job: Job, directory: TrialDirectory, on_progress: OnProgress) -> Lease | None:
    """The trial's lease, after waiting for its holder. None when `on_progress` asked to stop waiting."""
    began, waited, samples = time.time(), False, 0
    while True:
        try:
            lease = Lease.take(directory.path)
        except LeaseHeld as held:
            if not waited:
                lines = _unless_damaged(directory.metrics)
                samples = lines[-1]["samples"] if lines else 0
            process, total = held.holder.process, job.config.training.samples
            event = Waiting(job.id, samples, total, pid=process.pid, host=process.host, again=waited)
            if on_progress(event) is False:
                return None
            waited = True
            time.sleep(POLL_SECONDS)
            continue
        failure = _unless_damaged(directory.failure)
        if waited and failure and failure["unix_time"] >= began:
            lease.release()
            raise TrialFailed(f"{failure['error']}\n{failure['traceback']}")
        return lease


def _unless_damaged(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Damaged:
        return None


def _run(job: Job, directory: TrialDirectory, lease: Lease, on_progress: OnProgress) -> dict:
    directory.sweep(lease)
    ready = _ready(job, directory)  # the process that had the lease may have done it
    total = job.config.training.samples
    if ready is None:
        for line in remove_damaged(job, directory, lease):
            on_progress(Mended(job.id, 0, total, message=line))
        data = TrialData(job.run.store)
        result = directory.result()
        if result is None:
            session = Session(job, directory, lease, data, on_progress)
            if not session.train():
                return {"state": "paused", "id": job.id, "samples": session.trainer.samples}
            result = session.result()
        make_evaluations(job, directory, lease, data, on_progress)
        if directory.result() is None:
            directory.write_json("result.json", result, lease)
        ready = _ready(job, directory)
        assert ready is not None  # result and evaluations have just been written
    on_progress(Finished(job.id, total, total, ready.get("nats"), ready["samples_per_s"], result=ready))
    return ready
