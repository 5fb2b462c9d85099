"""The evaluations that a finished trial is to have: which are there, which are made now."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, InstanceOf

from gonn_core.errors import InputError
from gonn_core.evaluation import stored
from gonn_core.evaluation.answers import Answers, answer
from gonn_core.evaluation.metrics import METRIC_SET, Reading, Scores, evaluation_id
from gonn_core.evaluation.probes import stored as stored_probes
from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.measure import answers, head_answers, ladder_head, policies
from gonn_core.evaluation.probes.suite import PUBLISHED
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
from gonn_core.trial.weights import load_net, snapshot_net

RUN_PROBES = "gonn_core.trial.evaluations:run_probes"
"""What a worker calls with a ProbeJob: an importable path."""


class ProbeJob(Job):
    """A finished trial, and the suite that is put to its net."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    suite: InstanceOf[Suite]

    @property
    def directory(self) -> TrialDirectory:
        """The trial's."""
        return TrialDirectory(Path(self.run.runs) / self.id)

    @property
    def answers(self) -> stored_probes.ProbeAnswers | None:
        """The answers, None before the suite was put to the net."""
        return stored_answers(self.directory, self.suite)


def run_probes(job: ProbeJob, on_progress: OnProgress) -> dict:
    """Put the suite to the net, on one thread of the CPU, unless that was done. Raises UserError."""
    from gonn_core.training.environment import reset_torch

    reset_torch(1)
    answer_probes(job.directory, job.suite)
    return {"state": "done"}


def stored_answers(directory: TrialDirectory, suite: Suite) -> stored_probes.ProbeAnswers | None:
    """The answers of a finished trial to a suite, None when it was not asked yet. Raises InputError for a trial that is
    not done."""
    result = directory.result()
    if result is None:
        raise InputError(directory.path, f"not trained to the end yet ({directory.state()})")
    known = stored_probes.load_answers(directory.path, result["weights"])
    return next((answers for answers in known if answers.summary["suite"] == suite.digest), None)


def answer_probes(directory: TrialDirectory, suite: Suite) -> stored_probes.ProbeAnswers:
    """The answers of a finished trial to a suite, computed on the CPU unless they are there. Raises UserError,
    LeaseHeld among them."""
    return stored_answers(directory, suite) or _answered(directory, suite)


def _answered(directory: TrialDirectory, suite: Suite) -> stored_probes.ProbeAnswers:
    net, config = load_net(directory.path)
    case_answers = answers(net, config.features, suite)
    published = [case for case in suite.cases if case.group == PUBLISHED]
    if list(suite.cases[: len(published)]) != published:
        raise ValueError("the documents' positions must be the first cases of a suite")
    positions = [case.position for case in published]
    published_policies = policies(net, config.features, positions)
    head = head_answers(net, config.features, suite, positions) if ladder_head(net) is not None else None
    result = directory.result()
    assert result is not None  # load_net and stored_answers read it
    names = [case.name for case in published]
    packed = stored_probes.pack(suite, case_answers, published_policies, head)
    summary = stored_probes.summarise(suite, case_answers, result["weights"], result["samples"], names, packed)
    arrays = directory.path / "probes" / f"{summary['id']}.npz"
    with Lease.take(directory.path) as lease:
        (directory.path / "probes").mkdir(exist_ok=True)
        # before the summary: who reads that finds both
        directory.write(f"probes/{arrays.name}", packed, lease)
        directory.write(f"probes/{summary['id']}.json", stored_probes.to_json(summary), lease)
    return stored_probes.ProbeAnswers(summary, arrays)


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
