"""What is left of a trial whose process was killed."""

import pytest

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease
from orchestration.experiment.pipeline import record_failure
from tests.orchestration.fakes import write_trial


@pytest.mark.parametrize("state", ["new", "paused"])
def test_a_trial_that_was_killed_has_failed(tmp_path, state):
    directory = TrialDirectory(tmp_path / "a")
    if state == "paused":
        write_trial(directory.path, "paused", points=1)
    assert directory.state() == state
    record_failure(directory, "the worker process was killed by SIGKILL, 2 times")
    assert directory.state() == "failed"
    assert directory.failure()["error"] == "the worker process was killed by SIGKILL, 2 times"


def test_what_a_trial_wrote_itself_stays_and_so_does_a_trial_of_another_command(tmp_path):
    directory = TrialDirectory(tmp_path / "a")
    directory.create()
    with Lease.take(directory.path) as lease:
        record_failure(directory, "killed")
        assert directory.failure() is None
        directory.write_failure("ValueError: own", "trace", lease)
    record_failure(directory, "killed")
    assert directory.failure()["error"] == "ValueError: own"
