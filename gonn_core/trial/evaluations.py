"""The evaluations that a finished trial is to have: which are there, which are made now."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from gonn_core.evaluation import stored
from gonn_core.evaluation.answers import Answers, answer
from gonn_core.evaluation.identity import evaluation_id
from gonn_core.evaluation.metrics import METRIC_SET, Scores
from gonn_core.evaluation.reading import Reading
from gonn_core.files.seals import digest_of
from gonn_core.go.layout import KO, PLY
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.cores import loader_threads
from gonn_core.training.environment import choose_device, describe_device, reset_torch
from gonn_core.training.loop import MEMORY_FORMATS
from gonn_core.trial.data import TrialData
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import Evaluating, OnProgress, PauseAsked
from gonn_core.trial.job import EvaluationRequest, Job, resumed_settings, whole_batches
from gonn_core.trial.lease import Lease
from gonn_core.trial.weights import snapshot_net

_TICK_SECONDS = 1.0


def find_evaluation(directory: TrialDirectory, job: Job, request: EvaluationRequest) -> dict | None:
    """Summary of the stored evaluation that a request asks for, None when it has yet to be made or is damaged. Opens
    no store."""
    wanted = _resolved(job, request)
    for summary in (evaluation.summary for evaluation in stored.whole_evaluations(directory.path)[0]):
        if summary["metric_set"] == METRIC_SET and wanted in summary["requests"]:
            return summary
    return None


def reading_of(job: Job, request: EvaluationRequest) -> Reading:
    """How the policy is read: as the trial's configuration or the request wants."""
    return Reading(*(getattr(job.config.evaluation, name) or getattr(request, name) for name in Reading._fields))


def _resolved(job: Job, request: EvaluationRequest) -> dict:
    """The request with its reading and the sample count of its snapshot, as it is stored beside its answer.

    `legal_only` is told when it is so: requests stored before there was a choice stay the same.
    """
    training, reading = job.config.training, reading_of(job, request)
    fields = request.model_dump(exclude=set(Reading._fields)) | {"symmetry_averaging": reading.symmetry_averaging}
    fields |= {"legal_only": True} if reading.legal_only else {}
    return {**fields, "samples": whole_batches(request.samples or training.samples, training.batch_size)}


def make_evaluations(
    job: Job, directory: TrialDirectory, lease: Lease, data: TrialData, on_progress: OnProgress
) -> None:
    """Make what the job asks for and the directory of the finished trial lacks; the net comes from its snapshot. Raises
    PauseAsked when asked to."""
    missing = [request for request in job.run.evaluations if find_evaluation(directory, job, request) is None]
    if not missing:
        return
    settings = resumed_settings(job.run, directory.config())
    device, memory_format = choose_device(settings.device), MEMORY_FORMATS[settings.memory_format]
    reset_torch(settings.threads, device)
    threads = loader_threads(settings.loader_threads, device.type)
    extras: tuple[str, ...] = ("illegal",) if any(reading_of(job, request).legal_only for request in missing) else ()
    extras += ("future",) * (job.config.net.residual.output_planes - 1)
    maker = PlaneMaker(data.store, job.config.features, device, memory_format, extras)
    for request in sorted(missing, key=lambda request: request.history != "full"):  # the others take of its numbers
        resolved = _resolved(job, request)
        net, digest = snapshot_net(directory, job.config, job.id, resolved["samples"])
        view = data.subset(request.view, request.minimum_positions, request.subset_seed)
        reading = reading_of(job, request)
        identity = evaluation_id(digest, view.digest, request.history, reading)
        before = _whole(directory, identity)
        if before is not None:
            summary = before.summary
        else:
            net.to(device, memory_format=memory_format)  # type: ignore[call-overload]  # torch's types lack the keyword
            progress = _progress_callback(job, request, resolved["samples"], on_progress)
            answers = Answers(net, maker, threads, progress, reading, "future" in extras)
            full = _whole(directory, evaluation_id(digest, view.digest, "full", reading))
            known = None if full is None or full.compact else full.scores
            answered = partial(answer, answers, job.config.features, view.rows, request.history, known)
            summary = _make(identity, answered, data.store, view, directory, lease)
            summary |= {"weights": digest, "samples": resolved["samples"], "split": request.split, "view": request.view}
            summary |= {"history": request.history, "symmetry_averaging": reading.symmetry_averaging}
            summary |= {"legal_only": True} if reading.legal_only else {}
            summary |= {"device": describe_device(device)}
            summary["requests"] = []
        summary["requests"].append(resolved)
        directory.write(f"eval/{identity}.json", stored.pack_summary(summary), lease)


def _whole(directory: TrialDirectory, identity: str) -> stored.Evaluation | None:
    return next((each for each in stored.whole_evaluations(directory.path)[0] if each.summary["id"] == identity), None)


def _make(identity: str, answered: Callable[[], Scores], store, view, directory: TrialDirectory, lease: Lease) -> dict:
    """Evaluate and write the arrays, before the summary: whoever finds the summary finds them too."""
    began, cpu_began = time.perf_counter(), time.process_time()
    scores = answered()
    games, moves = view.games(), store.moves[view.rows]
    arrays = stored.pack_arrays(scores, view.rows, games, moves[:, PLY], moves[:, KO] >= 0)
    directory.write(f"eval/{identity}.npz", arrays, lease)
    return {
        "format": stored.FORMAT,
        "id": identity,
        "metric_set": METRIC_SET,
        "subset": view.digest,
        "positions": len(view.rows),
        "games": len(np.unique(games)),
        **scores.means(),
        "arrays": digest_of(arrays),
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu_began,
    }


def _progress_callback(job: Job, request: EvaluationRequest, samples: int, on_progress: OnProgress):
    """What `answer` calls after a batch: tells an event about once a second."""
    next_tick = time.monotonic()

    def on_batch(done: int, positions: int) -> None:
        nonlocal next_tick
        if time.monotonic() >= next_tick:
            next_tick = time.monotonic() + _TICK_SECONDS
            event = Evaluating(
                job.id,
                samples,
                job.config.training.samples,
                split=request.split,
                history=request.history,
                positions=done,
                of=positions,
            )
            if on_progress(event) is False:
                raise PauseAsked

    return on_batch
