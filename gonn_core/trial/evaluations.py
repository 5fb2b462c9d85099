"""The evaluations that a finished trial is to have, and its answers to probes: which are stored, which are made now."""

import time
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, InstanceOf

from gonn_core.evaluation import stored
from gonn_core.evaluation.evaluate import evaluate, evaluate_history
from gonn_core.evaluation.metrics import METRIC_SET, Reading, Scores, evaluation_id, joined
from gonn_core.evaluation.probes import stored as stored_probes
from gonn_core.evaluation.probes.measure import answers, ladder_maps, policies
from gonn_core.evaluation.probes.suite import PUBLISHED, Suite
from gonn_core.files.seals import digest_of, sealed_json
from gonn_core.go.layout import KO, PLY
from gonn_core.records.views import subset
from gonn_core.settings.data import HistoryMode
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.environment import choose_device, describe_device, reset_torch
from gonn_core.training.host import loader_threads
from gonn_core.training.loop import MEMORY_FORMATS
from gonn_core.trial.data import TrialData
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import Evaluating, OnProgress, every_second
from gonn_core.trial.job import EvaluationRequest, Job, resumed_settings, whole_batches
from gonn_core.trial.lease import Lease
from gonn_core.trial.weights import load_net, snapshot_net

RUN_PROBES = "gonn_core.trial.evaluations:run_probes"
"""What a worker calls with a ProbeJob: an importable path."""
PART = 2**16
"""Positions, in whole batches, after which an evaluation of more is written, so that a kill loses no more."""


class ProbeJob(Job):
    """A finished trial, and the suite that its net answers."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    suite: InstanceOf[Suite]

    @property
    def answers(self) -> stored_probes.ProbeAnswers | None:
        """The stored answers, if any. Raises InputError for a trial that is not done."""
        return stored_answers(TrialDirectory(Path(self.run.runs) / self.id), self.suite)


def run_probes(job: ProbeJob, on_progress: OnProgress) -> dict:
    """Have the trial's net answer the suite on one thread of the CPU, unless the answers are stored. Raises
    UserError."""
    reset_torch(1)
    answer_probes(TrialDirectory(Path(job.run.runs) / job.id), job.suite)
    return {"state": "done"}


def stored_answers(directory: TrialDirectory, suite: Suite) -> stored_probes.ProbeAnswers | None:
    """The stored answers of a finished trial to a suite, if any. Raises InputError for a trial that is not done."""
    loaded = stored_probes.load_answers(directory.path, directory.finished()["weights"])
    return next((answers for answers in loaded if answers.summary["suite"] == suite.digest), None)


def answer_probes(directory: TrialDirectory, suite: Suite) -> stored_probes.ProbeAnswers:
    """The answers of a finished trial to a suite, computed on the CPU unless they are stored. Raises UserError,
    LeaseHeld among them."""
    if (known := stored_answers(directory, suite)) is not None:
        return known
    net, config = load_net(directory.path)
    case_answers = answers(net, config.features, suite)
    published = [case for case in suite.cases if case.group == PUBLISHED]
    if list(suite.cases[: len(published)]) != published:
        raise ValueError("the documents' positions must be the first cases of a suite")
    positions = [case.position for case in published]
    published_policies = policies(net, config.features, positions)
    laddered = ladder_maps(net, config.features, positions)
    result = directory.finished()
    names = [case.name for case in published]
    packed = stored_probes.pack(suite, case_answers, published_policies, laddered)
    summary = stored_probes.summarise(suite, case_answers, result["weights"], result["samples"], names, packed)
    arrays = directory.path / "probes" / f"{summary['id']}.npz"
    with Lease.take(directory.path) as lease:
        arrays.parent.mkdir(exist_ok=True)
        # Before the summary: a reader that finds the summary finds both.
        directory.write(f"probes/{arrays.name}", packed, lease)
        directory.write(f"probes/{summary['id']}.json", sealed_json(summary, allow_nan=False), lease)
    return stored_probes.ProbeAnswers(summary, arrays)


def find_evaluation(directory: TrialDirectory, job: Job, request: EvaluationRequest) -> dict | None:
    """Summary of the stored evaluation that a request asks for, None when it has yet to be made or is damaged. Opens
    no store."""
    resolved = _resolved(job, request)
    for evaluation in stored.whole_evaluations(directory.path)[0]:
        if evaluation.summary["metric_set"] == METRIC_SET and resolved in evaluation.summary["requests"]:
            return evaluation.summary
    return None


def _reading(job: Job, request: EvaluationRequest) -> Reading:
    """How the policy is read: as the trial's configuration or the request says."""
    return Reading(*(getattr(job.config.evaluation, name) or getattr(request, name) for name in Reading._fields))


def _resolved(job: Job, request: EvaluationRequest) -> dict:
    """The request with its reading and the sample count of its snapshot, as stored with its answer. `legal_only` is
    there only when true: requests stored before there was a choice stay the same."""
    training, reading = job.config.training, _reading(job, request)
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
    extras: tuple[str, ...] = ("illegal",) if any(_reading(job, request).legal_only for request in missing) else ()
    extras += ("future",) * (job.config.net.residual.output_planes - 1)
    maker = PlaneMaker(data.store, job.config.features, device, memory_format, extras)
    for request in sorted(missing, key=lambda request: request.history != "full"):  # other modes reuse its scores
        resolved, reading = _resolved(job, request), _reading(job, request)
        net, weights = snapshot_net(directory, job.config, job.id, resolved["samples"])
        view = subset(data.view(request.view), request.minimum_positions, request.subset_seed)
        identity = evaluation_id(weights, view.digest, request.history, reading)
        known = {evaluation.summary["id"]: evaluation for evaluation in stored.whole_evaluations(directory.path)[0]}
        if identity in known:
            summary = known[identity].summary
        else:
            net.to(device, memory_format=memory_format)  # type: ignore[call-overload]  # torch's types lack the keyword
            full = known.get(evaluation_id(weights, view.digest, "full", reading))
            began, cpu_began = time.perf_counter(), time.process_time()
            on_batch = every_second(
                on_progress,
                lambda done, of, request=request, samples=resolved["samples"]: Evaluating(
                    job.id,
                    samples,
                    job.config.training.samples,
                    split=request.split,
                    history=request.history,
                    positions=done,
                    of=of,
                ),
            )

            def score(
                rows: np.ndarray, history: HistoryMode, net=net, report=on_batch, reading=reading, identity=identity
            ) -> Scores:
                parts = []
                for start in range(0, max(len(rows), 1), PART):
                    name = f"eval/{identity}.{history}.{start}.part"
                    part = stored.read_part(directory.path / name)
                    if part is None:
                        chosen = rows[start : start + PART]

                        def on_part(done: int, start=start) -> None:
                            report(start + done, len(rows))

                        part = evaluate(net, maker, chosen, history, threads, on_part, reading)
                        if len(rows) > PART:
                            directory.write(name, stored.pack_part(part), lease)
                    parts.append(part)
                return joined(parts)

            full_scores = None if full is None or full.compact else full.scores
            scores = evaluate_history(score, job.config.features, view.rows, request.history, full_scores)
            games, moves = view.games(), data.store.moves[view.rows]
            scores = scores._replace(ply=moves[:, PLY], ko=moves[:, KO] >= 0)
            arrays = stored.pack_arrays(scores, view.rows, games)
            directory.write(f"eval/{identity}.npz", arrays, lease)  # before the summary, as above
            summary = {
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
                "weights": weights,
                "samples": resolved["samples"],
                "split": request.split,
                "view": request.view,
                "history": request.history,
                "symmetry_averaging": reading.symmetry_averaging,
                **({"legal_only": True} if reading.legal_only else {}),
                "device": describe_device(device),
                "requests": [],
            }
        summary["requests"].append(resolved)
        directory.write(f"eval/{identity}.json", sealed_json(summary, allow_nan=False), lease)
        for part in (directory.path / "eval").glob(f"{identity}.*.part"):
            directory.remove(f"eval/{part.name}", lease)
