"""Put a suite to the net of a finished trial, once: the answers are kept in the trial's directory. It is a job too, for
whoever runs trials side by side."""

from pathlib import Path

from pydantic import ConfigDict, InstanceOf

from gonn_core.errors import InputError
from gonn_core.evaluation.probes import stored
from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.measure import answers, head_answers, ladder_head, policies
from gonn_core.evaluation.probes.suite import PUBLISHED
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import OnProgress
from gonn_core.trial.job import Job
from gonn_core.trial.lease import Lease
from gonn_core.trial.weights import load_net

RUN_PROBES = "gonn_core.trial.probe_answers:run_probes"
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
    def answers(self) -> stored.ProbeAnswers | None:
        """The answers, None before the suite was put to the net."""
        return stored_answers(self.directory, self.suite)


def run_probes(job: ProbeJob, on_progress: OnProgress) -> dict:
    """Put the suite to the net, on one thread of the CPU, unless that was done. Raises UserError."""
    from gonn_core.training.environment import reset_torch

    reset_torch(1)
    answer_probes(job.directory, job.suite)
    return {"state": "done"}


def stored_answers(directory: TrialDirectory, suite: Suite) -> stored.ProbeAnswers | None:
    """The answers of a finished trial to a suite, None when it was not asked yet. Raises InputError for a trial that is
    not done."""
    result = directory.result()
    if result is None:
        raise InputError(directory.path, f"not trained to the end yet ({directory.state()})")
    known = stored.load_answers(directory.path, result["weights"])
    return next((answers for answers in known if answers.summary["suite"] == suite.digest), None)


def answer_probes(directory: TrialDirectory, suite: Suite) -> stored.ProbeAnswers:
    """The answers of a finished trial to a suite, computed on the CPU unless they are there. Raises UserError,
    LeaseHeld among them."""
    return stored_answers(directory, suite) or _answered(directory, suite)


def _answered(directory: TrialDirectory, suite: Suite) -> stored.ProbeAnswers:
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
    packed = stored.pack(suite, case_answers, published_policies, head)
    summary = stored.summarise(suite, case_answers, result["weights"], result["samples"], names, packed)
    arrays = directory.path / "probes" / f"{summary['id']}.npz"
    with Lease.take(directory.path) as lease:
        (directory.path / "probes").mkdir(exist_ok=True)
        # before the summary: who reads that finds both
        directory.write(f"probes/{arrays.name}", packed, lease)
        directory.write(f"probes/{summary['id']}.json", stored.to_json(summary), lease)
    return stored.ProbeAnswers(summary, arrays)
