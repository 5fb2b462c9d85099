"""Put a suite to the net of a finished trial, once: the answers are kept in the trial's directory."""

from gonn_core.errors import InputError
from gonn_core.evaluation.probes import stored
from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.ladder_head import has_ladder_head, head_answers
from gonn_core.evaluation.probes.measure import answers, policies
from gonn_core.evaluation.probes.published import GROUP
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease
from gonn_core.trial.weights import load_net


def stored_answers(directory: TrialDirectory, suite: Suite) -> stored.ProbeAnswers | None:
    """The answers of a finished trial to a suite, None when it was not asked yet. Raises InputError for a trial that is
    not done."""
    result = directory.result()
    if result is None:
        raise InputError(directory.path, f"not trained to the end yet ({directory.state()})")
    found = stored.load_answers(directory.path, result["weights"])
    return next((each for each in found if each.summary["suite"] == suite.digest), None)


def put_probes(directory: TrialDirectory, suite: Suite) -> stored.ProbeAnswers:
    """The answers of a finished trial to a suite, computed on the CPU unless they are there. Raises UserError,
    LeaseHeld among them."""
    known = stored_answers(directory, suite)
    if known is not None:
        return known
    result = directory.result()
    net, config = load_net(directory.path)
    given = answers(net, config.features, suite)
    shown = [case for case in suite.cases if case.group == GROUP]
    if list(suite.cases[: len(shown)]) != shown:
        raise ValueError("the documents' positions must be the first cases of a suite")
    drawn = policies(net, config.features, [case.position for case in shown])
    head = (
        head_answers(net, config.features, suite, [case.position for case in shown]) if has_ladder_head(net) else None
    )
    summary = stored.summarise(suite, given, result["weights"], result["samples"], [case.name for case in shown])
    with Lease.take(directory.path) as lease:
        (directory.path / "probes").mkdir(exist_ok=True)
        directory.write(
            f"probes/{summary['id']}.npz", stored.pack(suite, given, drawn, head), lease
        )  # before the summary: who finds that finds both
        directory.write(f"probes/{summary['id']}.json", stored.to_json(summary), lease)
    return stored_answers(directory, suite)
