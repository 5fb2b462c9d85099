"""Damaged files of a trial: removed, so that the next session makes them again.

Training is decided by the configuration, so what is made again is what was there. A trial resumes from its checkpoint
where that and the curve up to it are whole, and begins again where they are not.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.stored import whole_evaluations
from gonn_core.trial.directory import TrialDirectory, other_net
from gonn_core.trial.job import Job, progress_points, resumed_settings, whole_batches
from gonn_core.trial.lease import Lease

T = TypeVar("T")


def whole_result(directory: TrialDirectory) -> dict | None:
    """result.json of a trial that is done and whose configuration, curve and result are undamaged; else None. Raises
    InputError for a trial that was trained with another net than this code makes of its settings."""
    try:
        tree, result = directory.config(), directory.result()
        if result is not None:
            directory.check_course(directory.metrics(), result)
    except Damaged:
        return None
    if tree and (result or directory.checkpoint.exists()) and (problem := other_net(tree, result)):
        raise InputError(directory.path, problem)
    return result


def remove_damaged(job: Job, directory: TrialDirectory, lease: Lease) -> Iterator[str]:
    """Remove the damaged files of a trial that has yet to be trained or evaluated, and those that depend on them.
    Yields a line for each. Raises InputError for files of another version."""
    damages: dict[Path, Damaged] = {}

    def checked(read: Callable[[], T]) -> T | None:
        try:
            return read()
        except Damaged as damage:
            damages.setdefault(Path(damage.path), damage)
            return None

    config, result, lines = checked(directory.config), checked(directory.result), checked(directory.metrics)
    can_resume = lines is not None
    if result is not None and lines is not None:
        checked(lambda: directory.check_course(lines, result))
        if not damages:
            can_resume = _check_snapshots(job, directory, result["samples"], checked)
            if not damages:
                yield from (f"{damage.path}: {damage.problem}" for damage in whole_evaluations(directory.path)[1])
                return
    reached = checked(lambda: _resumable_samples(job, directory, config)) if can_resume else None
    total = whole_batches(job.config.training.samples, job.config.training.batch_size)
    resumes = reached is not None and (config is not None or reached == total)
    if not damages:
        return
    again = f"resumes from the checkpoint at {reached:,} samples" if resumes else "trained again from the beginning"
    for path, damage in damages.items():
        yield f"{damage}; {again}"
        if path.name != "config.json":  # the next session rewrites that
            directory.remove(str(path.relative_to(directory.path)), lease)
    for name in ("result.json",) if resumes else ("result.json", "checkpoint.safetensors", "metrics.jsonl"):
        directory.remove(name, lease)


def _check_snapshots(job: Job, directory: TrialDirectory, last: int, checked: Callable) -> bool:
    """Check the snapshots that evaluations need. False when one before the last sample is damaged: it can only be made
    by training from the beginning."""
    from gonn_core.trial.weights import snapshot_net  # with torch

    training = job.config.training
    needed = {
        whole_batches(request.samples or training.samples, training.batch_size) for request in job.run.evaluations
    }
    whole = {
        samples: checked(lambda samples=samples: snapshot_net(directory, job.config, job.id, samples)) is not None
        for samples in sorted(needed & directory.snapshots().keys())
    }
    return all(whole[samples] for samples in whole if samples < last)


def _resumable_samples(job: Job, directory: TrialDirectory, config: dict | None) -> int | None:
    """Samples of the checkpoint, None where there is none. Raises Damaged for it, or for a curve that lacks points
    before it."""
    from gonn_core.trial.weights import unpack  # with torch

    if not directory.checkpoint.exists():
        return None
    state, _ = unpack(directory.checkpoint, job.id)
    samples = int(state["samples"])
    training, settings = job.config.training, resumed_settings(job.run, config)
    points = progress_points(training.samples, training.batch_size, settings.progress_points)
    logged = {line["samples"] for line in directory.metrics()}
    if missing := [point for point in points if point <= samples and point not in logged]:
        raise Damaged(directory.path / "metrics.jsonl", f"damaged: no line at {missing[0]:,} samples")
    return samples
