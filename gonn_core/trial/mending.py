"""Files of a trial that are not what was written: put aside, so that the next session makes them again.

What is made again is what was there: training goes by draws that the configuration decides. A trial goes on from its
checkpoint where that and the curve up to it are whole, and begins again where they are not.

Trials that differ in nothing but symmetry averaging: one is trained, the other takes over its weights and its curve.

Of the two, only the averaging one waits for the plain one, so they never wait for each other. Started at the very same
moment they may not see each other: then both train, to the same weights. Trials that read legal points alone have
curves of their own.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from gonn_core.config import canonical, trial_id, with_values
from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.metrics import Reading
from gonn_core.evaluation.stored import whole_evaluations
from gonn_core.trial.directory import TrialDirectory, other_net
from gonn_core.trial.events import OnProgress, PauseAsked, Waiting
from gonn_core.trial.job import Job, progress_points, resumed_settings, snapshot_points, whole_batches
from gonn_core.trial.lease import Lease, Watch, live_holder

T = TypeVar("T")


def whole_result(directory: TrialDirectory) -> dict | None:
    """result.json of a trial that is done and whose configuration, curve and result are what was written; else None.
    Raises InputError for a trial that was trained with another net than this code makes of its settings."""
    try:
        tree, result = directory.config(), directory.result()
        if result is not None:
            directory.check_course(directory.metrics(), result)
    except Damaged:
        return None
    if tree and (result or directory.checkpoint.exists()) and (problem := other_net(tree, result)):
        raise InputError(directory.path, problem)
    return result


class _Look:
    """Reads files and keeps what is wrong with them."""

    def __init__(self) -> None:
        self.damages: list[Damaged] = []

    def __call__(self, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except Damaged as damage:
            self.damages.append(damage)
            return None


def put_aside(job: Job, directory: TrialDirectory, lease: Lease) -> Iterator[str]:
    """Remove what is damaged of a trial that has yet to be trained or evaluated, and what cannot be without it; says
    so, a line a file. Raises InputError for files of another version."""
    look = _Look()
    config, result, lines = look(directory.config), look(directory.result), look(directory.metrics)
    if result is not None and lines is not None:
        look(lambda: directory.check_course(lines, result))
    if result is not None and not look.damages:
        early = list(_damaged_snapshots(job, directory, result["samples"], look))
        if not look.damages:
            yield from (f"{damage.path}: {damage.problem}" for damage in whole_evaluations(directory.path)[1])
            return
    else:
        early = []
    reached = None if early or lines is None else look(lambda: _reached(job, directory, config))
    total = whole_batches(job.config.training.samples, job.config.training.batch_size)
    goes_on = reached is not None and (config is not None or reached == total)
    if not look.damages:
        return
    again = f"goes on from the checkpoint at {reached:,} samples" if goes_on else "trained again from the beginning"
    for damage in {damage.path: damage for damage in reversed(look.damages)}.values():
        yield f"{damage}; {again}"
        if damage.path != directory.path / "config.json":  # the next session writes that anew
            directory.remove(str(Path(damage.path).relative_to(directory.path)), lease)
    directory.remove("result.json", lease)
    if not goes_on:
        directory.remove("checkpoint.safetensors", lease)
        directory.remove("metrics.jsonl", lease)


def _damaged_snapshots(job: Job, directory: TrialDirectory, last: int, look: _Look) -> Iterator[int]:
    """Of the snapshots that evaluations are made from: sample counts before the last one of those that are damaged."""
    from gonn_core.trial.weights import snapshot_net  # with torch

    batch = job.config.training.batch_size
    wanted = {whole_batches(each.samples or job.config.training.samples, batch) for each in job.run.evaluations}
    for samples in sorted(wanted & directory.snapshots().keys()):
        before = len(look.damages)
        look(lambda samples=samples: snapshot_net(directory, job.config, job.id, samples))  # type: ignore[misc]
        if len(look.damages) > before and samples < last:
            yield samples


def _reached(job: Job, directory: TrialDirectory, config: dict | None) -> int | None:
    """Samples of the checkpoint, None where there is none. Raises Damaged for it, or for a curve that lacks points
    before it."""
    from gonn_core.trial import checkpoint  # with torch

    if not directory.checkpoint.exists():
        return None
    state, _ = checkpoint.unpack(directory.checkpoint, job.id)
    samples = int(state["samples"])
    training, settings = job.config.training, resumed_settings(job.run, config)
    points = progress_points(training.samples, training.batch_size, settings.progress_points)
    told = {line["samples"] for line in directory.metrics()}
    if missing := [point for point in points if point <= samples and point not in told]:
        raise Damaged(directory.path / "metrics.jsonl", f"damaged: no line at {missing[0]:,} samples")
    return samples


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
