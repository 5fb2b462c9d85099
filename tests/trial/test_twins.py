"""Trials that only read the policy differently: trained once, evaluated each in its own way."""

import shutil
import threading

import pytest

from gonn_core.config import with_values
from gonn_core.evaluation.metrics import Reading
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.trial import run as run_module
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease
from gonn_core.trial.mending import plainest_first, twins
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import load_net
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import wait_until


def read_as(job, **reading):
    """The job of the trial that reads its policy so."""
    return job.model_copy(
        update={"config": with_values(job.config, {f"evaluation.{name}": value for name, value in reading.items()})}
    )


def folder_of(job):
    return TrialDirectory(f"{job.run.runs}/{job.id}")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a trial that reads its policy plainly."""
    job = tiny_job(tmp_path_factory.mktemp("trained"))
    run_trial(job)
    return folder_of(job).path


@pytest.fixture
def plain(trained, tmp_path):
    """The job of that trial, which is done in `tmp_path`."""
    job = tiny_job(tmp_path)
    shutil.copytree(trained, folder_of(job).path)
    return job


@pytest.fixture
def never_train(monkeypatch):
    def stop(*_):
        raise AssertionError("trained again")

    return lambda: monkeypatch.setattr(run_module, "Session", stop)


def test_the_net_is_trained_once(tmp_path, never_train):
    plain = tiny_job(tmp_path / "together", snapshots=(100,))
    averaged = read_as(plain, symmetry_averaging=True)
    alone = averaged.model_copy(update={"run": averaged.run.model_copy(update={"runs": str(tmp_path / "alone")})})
    trained, straight = run_trial(plain), run_trial(alone)
    never_train()
    result = run_trial(averaged)
    assert result["trained_as"] == plain.id != averaged.id == result["id"] and result["weights"] == trained["weights"]
    assert folder_of(averaged).state() == "done" and not folder_of(averaged).checkpoint.exists()
    assert folder_of(averaged).metrics() == folder_of(plain).metrics()
    assert list(folder_of(averaged).snapshots()) == [104, 800]
    (evaluation,) = load_evaluations(folder_of(averaged).path)
    assert evaluation.reading == Reading(symmetry_averaging=True)
    assert run_trial(averaged) == result
    load_net(folder_of(averaged).path)  # under its own id
    assert straight["evaluations"][0]["nats"] == result["evaluations"][0]["nats"] != trained["evaluations"][0]["nats"]
    folder_of(averaged).checkpoint.write_bytes(folder_of(alone).checkpoint.read_bytes())
    assert_same_trial(folder_of(alone).path, folder_of(averaged).path)  # bit for bit what training it would have given


def test_over_legal_points_the_curve_is_another(plain):
    legal = read_as(plain, legal_only=True)
    trained, other = run_trial(plain), run_trial(legal)
    assert "trained_as" not in other and other["weights"] == trained["weights"]
    curves = [[line["nats"] for line in folder_of(job).metrics()] for job in (plain, legal)]
    assert all(over_legal < over_all for over_all, over_legal in zip(*curves, strict=True))
    assert other["evaluations"][0]["nats"] < trained["evaluations"][0]["nats"]


def test_older_trials_can_be_read_in_another_way(plain, never_train):
    request = plain.run.evaluations[0]
    requests = tuple(
        request.model_copy(update=update) for update in ({}, {"legal_only": True}, {"symmetry_averaging": True})
    )
    never_train()
    job = plain.model_copy(update={"run": plain.run.model_copy(update={"evaluations": requests})})
    summaries = run_trial(job)["evaluations"]
    readings = [(each["symmetry_averaging"], each.get("legal_only")) for each in summaries]
    assert readings == [(False, None), (False, True), (True, None)]
    as_before_there_was_a_choice = request.model_dump(exclude={"legal_only"}) | {"samples": 800}
    assert summaries[0]["requests"] == [as_before_there_was_a_choice]
    assert len({each["id"] for each in summaries}) == 3


def test_a_twin_without_the_wanted_snapshot_is_not_taken_over(plain, tmp_path):
    more = read_as(tiny_job(tmp_path, snapshots=(100,)), symmetry_averaging=True)
    result = run_trial(more)
    assert "trained_as" not in result and list(folder_of(more).snapshots()) == [104, 800]


def test_another_net_is_no_twin(plain, tmp_path):
    other = read_as(tiny_job(tmp_path, tiny_config(training__init_seed=3)), symmetry_averaging=True)
    assert "trained_as" not in run_trial(other)


def test_a_plainer_twin_at_work_is_waited_for(plain, never_train):
    directory, events = folder_of(plain), []
    (directory.path / "result.json").rename(directory.path / "kept")
    lease = Lease.take(directory.path)

    def finish():
        wait_until(lambda: events)
        (directory.path / "kept").rename(directory.path / "result.json")
        lease.release()

    thread = threading.Thread(target=finish)
    thread.start()
    never_train()
    result = run_trial(read_as(plain, symmetry_averaging=True), lambda event: events.append(event.kind))
    thread.join()
    assert result["trained_as"] == plain.id and events[0] == "waiting"


def test_a_pause_while_waiting(tmp_path):
    plain = tiny_job(tmp_path)
    folder_of(plain).create()
    averaged = read_as(plain, symmetry_averaging=True)
    with Lease.take(folder_of(plain).path):
        assert run_trial(averaged, lambda event: False) == {"state": "paused", "id": averaged.id, "samples": 0}


def test_those_that_can_take_over_come_last(tmp_path):
    jobs = [tiny_job(tmp_path, tiny_config(training__init_seed=seed)) for seed in (1, 2)]
    averaged = [read_as(job, symmetry_averaging=True) for job in jobs]
    assert plainest_first([averaged[0], jobs[0], jobs[1], averaged[1]]) == [*jobs, *averaged]
    assert plainest_first(averaged) == averaged  # nobody here trains for them
    assert list(twins(averaged[0])) == [(Reading(), jobs[0].id)]
    assert [reading for reading, _ in twins(read_as(averaged[0], legal_only=True))] == [Reading(legal_only=True)]
