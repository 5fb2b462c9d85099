"""Trials that differ in nothing but symmetry averaging: one is trained, the other takes over its weights and its curve.

Of the two, only the averaging one waits for the plain one, so they never wait for each other. Started at the very same
moment they may not see each other: then both train, to the same weights. Trials that read legal points alone have
curves of their own.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gonn_core.config import canonical, trial_id, with_values
from gonn_core.errors import Damaged
from gonn_core.evaluation.reading import Reading
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import OnProgress, PauseAsked, Waiting
from gonn_core.trial.job import Job, resumed_settings, snapshot_points
from gonn_core.trial.lease import Lease, Watch, live_holder
from gonn_core.trial.mending import whole_result

POLL_SECONDS = 0.5


def twins(job: Job) -> Iterator[tuple[Reading, str]]:
    """The other way to average when the policy of the job's net is read, and the id of the trial that does so."""
    own = _reading(job)
    averaging = not own.symmetry_averaging
    yield (
        own._replace(symmetry_averaging=averaging),
        trial_id(with_values(job.config, {"evaluation.symmetry_averaging": averaging})),
    )


def _reading(job: Job) -> Reading:
    return Reading(**job.config.evaluation.model_dump())


def plainest_first(jobs: Iterable[Job]) -> list[Job]:
    """The jobs in their order, but those last that can take over what another one of them trains."""
    jobs = list(jobs)
    trained = {job.id for job in jobs}
    return sorted(
        jobs, key=lambda job: any(reading < _reading(job) and trial in trained for reading, trial in twins(job))
    )


def take_over(job: Job, directory: TrialDirectory, lease: Lease, on_progress: OnProgress) -> dict | None:
    """Copy what a finished twin of the trial in the same folder trained; the result to be written once evaluations are
    made.

    Waits for a plainer twin that another process is training. None when there is no twin to take over from. Raises
    PauseAsked.
    """
    for reading, trial in twins(job):
        twin = TrialDirectory(directory.path.parent / trial)
        if reading < _reading(job):
            _wait(job, twin, on_progress)
        result = whole_result(twin)
        if result is not None and _has_snapshots(job, twin):
            with suppress(Damaged):  # a snapshot: this trial is then trained by itself
                return _copy(job, directory, lease, twin, result)
    return None


def _wait(job: Job, twin: TrialDirectory, on_progress: OnProgress) -> None:
    announced, total, watch = False, job.config.training.samples, Watch()
    while twin.path.is_dir() and whole_result(twin) is None and (holder := live_holder(twin.path, watch)) is not None:
        process = holder.process
        told = Waiting(job.id, 0, total, pid=process.pid, host=process.host, again=announced)
        if on_progress(told) is False:
            raise PauseAsked
        announced = True
        time.sleep(POLL_SECONDS)


def _has_snapshots(job: Job, twin: TrialDirectory) -> bool:
    training = job.config.training
    requested = [*job.run.snapshots, *(request.samples for request in job.run.evaluations if request.samples)]
    return twin.snapshots().keys() >= set(snapshot_points(training.samples, training.batch_size, requested))


def _copy(job: Job, directory: TrialDirectory, lease: Lease, twin: TrialDirectory, result: dict) -> dict:
    """Snapshots, curve and sessions under this trial's id. No checkpoint: there is nothing to go on with."""
    from gonn_core.trial import checkpoint  # with torch, for which a plan has no use

    for samples, path in twin.snapshots().items():
        tensors, notes = checkpoint.unpack(path, result["id"])
        directory.write(f"snapshots/{samples}.safetensors", checkpoint.pack(job.id, tensors, notes), lease)
    directory.write_metrics(twin.metrics(), lease)
    recorded = twin.config()
    assert recorded is not None  # written before any result
    tree = {
        **{name: value for name, value in recorded.items() if name != "format"},
        "id": job.id,
        "canonical": canonical(job.config),
        "config": job.config.model_dump(mode="json"),
        "run": resumed_settings(job.run, recorded).model_dump(mode="json"),
        "labels": job.labels,
    }
    directory.write_json("config.json", tree, lease)
    directory.remove("failure.json", lease)
    taken = {name: value for name, value in result.items() if name not in ("format", "id", "trained_as")}
    return {"id": job.id, **taken, "trained_as": result.get("trained_as", result["id"])}
