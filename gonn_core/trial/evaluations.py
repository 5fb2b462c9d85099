"""The evaluations that a finished trial is to have: which are there, which are made now."""

import json
import time

import numpy as np

from gonn_core.evaluation import stored
from gonn_core.evaluation.evaluate import evaluate
from gonn_core.evaluation.identity import evaluation_id
from gonn_core.evaluation.metrics import METRIC_SET
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.environment import choose_device, reset_torch
from gonn_core.training.loop import MEMORY_FORMATS

from .data import TrialData
from .directory import TrialDirectory
from .events import OnProgress, Paused, event
from .job import EvaluationRequest, Job, resumed_settings, whole_batches
from .lease import Lease
from .weights import snapshot_net

_TICK_SECONDS = 1.0


def find_evaluation(directory: TrialDirectory, job: Job, request: EvaluationRequest) -> dict | None:
    """Summary of the stored evaluation that a request asks for, None when it has yet to be made. Opens no store."""
    wanted = _resolved(job, request)
    for evaluation in stored.load_evaluations(directory.path):
        if evaluation.summary["metric_set"] == METRIC_SET and wanted in evaluation.summary["requests"]:
            return evaluation.summary
    return None


def _resolved(job: Job, request: EvaluationRequest) -> dict:
    """The request with the sample count of its snapshot, as it is stored beside its answer."""
    training = job.config.training
    return {**request.model_dump(), "samples": whole_batches(request.samples or training.samples, training.batch_size)}


def make_evaluations(job: Job, directory: TrialDirectory, lease: Lease, data: TrialData, on_progress: OnProgress) -> None:
    """Make what the job asks for and the directory of the finished trial lacks; the net comes from its snapshot. Raises Paused when asked to."""
    missing = [request for request in job.run.evaluations if find_evaluation(directory, job, request) is None]
    if not missing:
        return
    settings = resumed_settings(job.run, directory.config())
    reset_torch(settings.threads)
    device, memory_format = choose_device(settings.device), MEMORY_FORMATS[settings.memory_format]
    maker = PlaneMaker(data.store, job.config.features, device, memory_format)
    for request in missing:
        resolved = _resolved(job, request)
        net, digest = snapshot_net(directory, job.config, job.id, resolved["samples"])
        view = data.subset(request.view, request.minimum_positions, request.subset_seed)
        identity = evaluation_id(digest, view.digest, request.history, request.symmetry_averaging)
        summary = _read(directory, identity)
        if summary is None:
            net.to(device, memory_format=memory_format)
            tell = _teller(job, request, resolved["samples"], len(view.rows), on_progress)
            summary = _make(identity, net, maker, view, request.history, settings.loader_threads, directory, lease, tell)
            summary |= {"weights": digest, "samples": resolved["samples"], "split": request.split, "view": request.view}
            summary |= {"history": request.history, "symmetry_averaging": request.symmetry_averaging, "requests": []}
        summary["requests"].append(resolved)
        directory.write(f"eval/{identity}.json", (json.dumps(summary, indent=1, allow_nan=False) + "\n").encode(), lease)


def _read(directory: TrialDirectory, identity: str) -> dict | None:
    return next((found.summary for found in stored.load_evaluations(directory.path) if found.summary["id"] == identity), None)


def _make(identity, net, maker, view, history, threads, directory, lease, tell) -> dict:
    """Evaluate and write the arrays, before the summary: whoever finds the summary finds them too."""
    began = time.perf_counter()
    scores = evaluate(net, maker, view.rows, history, threads, tell)
    games = view.games()
    directory.write(f"eval/{identity}.npz", stored.pack_arrays(scores, view.rows, games), lease)
    return {
        "format": stored.FORMAT,
        "id": identity,
        "metric_set": METRIC_SET,
        "subset": view.digest,
        "positions": len(view.rows),
        "games": len(np.unique(games)),
        **scores.means(),
        "seconds": time.perf_counter() - began,
    }


def _teller(job: Job, request: EvaluationRequest, samples: int, positions: int, on_progress: OnProgress):
    """What `evaluate` calls after a batch: tells an event about once a second."""
    next_tick = time.monotonic()

    def tell(done: int) -> None:
        nonlocal next_tick
        if time.monotonic() >= next_tick:
            next_tick = time.monotonic() + _TICK_SECONDS
            about = {"split": request.split, "history": request.history, "positions": done, "of": positions}
            if on_progress(event("evaluating", job.id, samples, job.config.training.samples, None, None, **about)) is False:
                raise Paused

    return tell
