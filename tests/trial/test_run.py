"""run_trial: whole, paused and resumed, shared, failed, and asked for more."""

import errno
import json
import re
import threading

import pytest
import torch

from gonn_core import numerics
from gonn_core.errors import InputError, SettingError
from gonn_core.evaluation.evaluate import evaluate
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.files import whole as whole_files
from gonn_core.files.seals import EMPTY, sealed_tensors
from gonn_core.trial import evaluations
from gonn_core.trial import session as session_module
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import PauseAsked
from gonn_core.trial.job import EvaluationRequest
from gonn_core.trial.lease import Lease, LeaseLost
from gonn_core.trial.run import TrialFailed, run_trial
from gonn_core.trial.weights import load_net
from tests.trial.helpers import assert_same_trial, elsewhere, starter_data, tiny_config, tiny_job
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted trial."""
    job = tiny_job(tmp_path_factory.mktemp("whole"), snapshots=(100,))
    return job, run_trial(job)


def folder_of(job):
    return TrialDirectory(f"{job.run.runs}/{job.id}")


def pause_at(samples):
    return lambda event: not (event.kind == "point" and event.samples >= samples)


def test_a_whole_trial(whole):
    job, result = whole
    directory = folder_of(job)
    assert directory.state() == "done"
    assert result["state"] == "done" and result["samples"] == 800
    assert [line["samples"] for line in directory.metrics()] == [200, 400, 600, 800]
    assert [line["looks"] for line in directory.metrics()] == [1, 2, 3, 4]
    assert list(directory.snapshots()) == [104, 800]  # 100 in whole batches of 8
    assert result["nats"] == directory.metrics()[-1]["nats"]
    evaluation = load_evaluations(directory.path)[0]
    assert result["evaluations"] == [evaluation.summary]
    assert evaluation.scores.means()["nats"] == evaluation.summary["nats"]
    assert len(evaluation.rows) == evaluation.summary["positions"] >= 200
    sums = evaluation.sums.of("top4")
    assert sums.counts.sum() == evaluation.summary["positions"] and len(sums.games) == evaluation.summary["games"]
    assert sums.sums.sum() / sums.counts.sum() == pytest.approx(evaluation.summary["top4"])
    config = json.loads((directory.path / "config.json").read_text())
    assert config["id"] == job.id and config["numerics"] == numerics.versions() and len(config["sessions"]) == 1
    assert not list(directory.path.rglob("*.tmp")) and not (directory.path / "lease.json").exists()


def test_again_costs_nothing(whole, monkeypatch):
    job, result = whole
    monkeypatch.setattr("gonn_core.trial.run.TrialData", None)
    assert run_trial(job) == result


def test_paused_and_resumed_is_the_same(whole, tmp_path):
    job, _ = whole
    other = elsewhere(job, tmp_path)
    for samples in (200, 600):
        assert run_trial(other, pause_at(samples)) == {"state": "paused", "id": job.id, "samples": samples}
        assert folder_of(other).state() == "paused"
        # Left behind by something else:
        torch.set_num_threads(2)
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(9)
    run_trial(other)
    assert_same_trial(folder_of(job).path, folder_of(other).path)
    assert [session["from_samples"] for session in folder_of(other).config()["sessions"]] == [0, 200, 600]


def test_resuming_between_points_is_the_same(whole, tmp_path):
    """The state between two lines of metrics: sums, momentum, an unfinished line."""
    job, _ = whole
    other = elsewhere(job, tmp_path, checkpoint_seconds=0.0)
    original, writes = TrialDirectory.write, []

    def die_after(self, name, data, lease):
        original(self, name, data, lease)
        writes.append(name)
        if writes.count("checkpoint.safetensors") == 37:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrialDirectory, "write", die_after)
        with pytest.raises(KeyboardInterrupt):
            run_trial(other)
    assert folder_of(other).state() == "paused"
    run_trial(other)
    assert folder_of(other).config()["sessions"][1]["from_samples"] == 37 * 8
    assert_same_trial(folder_of(job).path, folder_of(other).path)


def test_a_resumed_trial_keeps_what_decides_rounding(whole, tmp_path):
    job, _ = whole
    other = elsewhere(job, tmp_path)
    run_trial(other, pause_at(200))
    changes = {"threads": 2, "memory_format": "contiguous", "progress_points": 3, "loader_threads": 3}
    run_trial(elsewhere(job, tmp_path, **changes))
    assert_same_trial(folder_of(job).path, folder_of(other).path)


def test_a_pause_while_evaluating(whole, tmp_path):
    job, _ = whole
    everything = EvaluationRequest(split="train", view=job.config.data.view, minimum_positions=10**6)
    other = elsewhere(job, tmp_path, evaluations=(everything,))
    assert run_trial(other, lambda event: event.kind != "evaluating") == {
        "state": "paused",
        "id": job.id,
        "samples": 800,
    }
    assert folder_of(other).state() == "paused" and not list((folder_of(other).path / "eval").iterdir())
    run_trial(elsewhere(job, tmp_path))
    assert_same_trial(folder_of(job).path, folder_of(other).path)


def test_a_long_evaluation_resumes_after_its_last_part(whole, tmp_path, monkeypatch):
    job, _ = whole
    published = EvaluationRequest(
        split="train", view=job.config.data.view, minimum_positions=700, history="as_published"
    )
    at_once, in_parts = (elsewhere(job, tmp_path / name, evaluations=(published,)) for name in ("one", "other"))
    expected = run_trial(at_once)["evaluations"][0]
    monkeypatch.setattr(evaluations, "PART", 256)
    scored = []

    def killed_in_third(net, maker, rows, *others):
        scored.append(len(rows))
        if len(scored) == 3:
            raise PauseAsked
        return evaluate(net, maker, rows, *others)

    monkeypatch.setattr(evaluations, "evaluate", killed_in_third)
    assert run_trial(in_parts)["state"] == "paused"
    first, second = sorted((folder_of(in_parts).path / "eval").iterdir(), key=lambda path: int(path.suffixes[-2][1:]))
    second.write_bytes(second.read_bytes()[:-100])
    answer = run_trial(in_parts)["evaluations"][0]
    assert sum(scored[3:-1]) == answer["positions"] - 256  # the last call is for the positions with fewer moves
    assert answer["arrays"] == expected["arrays"]
    assert not list((folder_of(in_parts).path / "eval").glob("*.part"))


def test_the_trained_net_can_be_loaded(whole):
    job, result = whole
    net, config = load_net(folder_of(job).path)
    assert config == job.config and not net.training
    assert sum(parameter.numel() for parameter in net.parameters()) == result["parameters"]
    with pytest.raises(SettingError, match="valid: 104, 800"):
        load_net(folder_of(job).path, samples=400)


def test_more_evaluations_of_a_finished_trial(whole, tmp_path):
    """Other positions, dropped history and an earlier snapshot; equal questions share one answer."""
    job, result = whole
    view = starter_data().views["validation"]
    base = job.run.evaluations[0]
    published = base.model_copy(update={"history": "as_published"})
    early = base.model_copy(update={"samples": 100})
    everything = [
        EvaluationRequest(split="validation", view=view.digest, minimum_positions=n) for n in (view.n, view.n + 1)
    ]
    more = elsewhere(job, job.run.runs, evaluations=(base, published, early, *everything[:1], everything[1]))
    events = []
    answers = run_trial(more, events.append)["evaluations"]
    assert answers[0] == result["evaluations"][0]
    assert answers[1]["subset"] == answers[0]["subset"] and answers[1]["nats"] != answers[0]["nats"]
    assert answers[2]["samples"] == 104 and answers[2]["weights"] != answers[0]["weights"]
    assert answers[3] == answers[4] and answers[3]["positions"] == view.n and len(answers[3]["requests"]) == 2
    assert len(load_evaluations(folder_of(job).path)) == 4
    assert {event.kind for event in events} == {"evaluating", "finished"}
    missing = base.model_copy(update={"samples": 400})
    with pytest.raises(SettingError, match="no such snapshot"):
        run_trial(elsewhere(job, job.run.runs, evaluations=(missing,)))
    assert folder_of(job).failure() is None


def test_a_failure_is_written_down_and_a_retry_forgets_it(tmp_path, monkeypatch):
    job = tiny_job(tmp_path)
    monkeypatch.setattr(session_module.Trainer, "step", lambda self, batch, *others: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run_trial(job)
    directory = folder_of(job)
    assert directory.state() == "failed"
    assert directory.failure()["error"] == "ZeroDivisionError: division by zero"
    assert "1 / 0" in directory.failure()["traceback"]
    monkeypatch.undo()
    run_trial(job)
    assert directory.state() == "done" and directory.failure() is None


def test_a_full_disk_is_one_line_and_going_on_works(whole, tmp_path, monkeypatch):
    job, _ = whole
    other = elsewhere(job, tmp_path)
    run_trial(other, pause_at(200))

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(whole_files.os, "fsync", full)
    with pytest.raises(InputError, match="disk is full"):
        run_trial(other)
    monkeypatch.undo()
    assert folder_of(other).state() == "paused" and not list(tmp_path.rglob(".*.tmp"))
    run_trial(other)
    assert_same_trial(folder_of(job).path, folder_of(other).path)


@pytest.mark.parametrize("what", ["format", "numerics"])
def test_checkpoints_of_another_version(tmp_path, monkeypatch, what):
    job = tiny_job(tmp_path)

    with monkeypatch.context() as patch:
        if what == "format":
            patch.setattr("gonn_core.trial.weights.FORMAT", 0)
        run_trial(job, pause_at(200))
    path = folder_of(job).checkpoint
    if what == "numerics":
        other = path.read_bytes().replace(b'\\"training\\": 1', b'\\"training\\": 0')
        path.write_bytes(sealed_tensors(re.sub(rb'"seal":"\w{64}"', f'"seal":"{EMPTY}"'.encode(), other)))
    expected = {"format": "of format 0; this version reads format 1", "numerics": "made with numerics"}
    with pytest.raises(InputError, match=expected[what]) as caught:
        run_trial(job)
    assert "\n" not in str(caught.value)


def test_unknown_data_and_devices_stop_before_any_work(tmp_path):
    with pytest.raises(InputError, match="no view 0000"):
        run_trial(tiny_job(tmp_path, tiny_config(data__view="0" * 20)))
    with pytest.raises(InputError, match="no position store"):
        run_trial(tiny_job(tmp_path, store=str(tmp_path / "nothing")))
    with pytest.raises(SettingError, match="beyond the last sample"):
        run_trial(tiny_job(tmp_path, snapshots=(801,)))
    if not torch.cuda.is_available():
        with pytest.raises(SettingError, match="device=cuda"):
            run_trial(tiny_job(tmp_path, device="cuda"))
    with pytest.raises(InputError, match="Not a directory"):
        (tmp_path / "file").write_text("")
        run_trial(tiny_job(tmp_path / "file"))


def test_wait_for_another_process(tmp_path):
    job = tiny_job(tmp_path)
    directory = folder_of(job)
    directory.create()
    assert directory.state() == "new"
    with Lease.take(directory.path):
        assert directory.state() == "running"
        assert run_trial(job, lambda event: event.kind != "waiting")["state"] == "paused"
        told = []

        def listen(event):
            told.append((event.kind, event.again))
            return len(told) < 3

        assert run_trial(job, listen)["state"] == "paused", "asked again and again whether to go on waiting"
        assert told == [("waiting", False), ("waiting", True), ("waiting", True)]


def test_the_one_who_waits_takes_the_result(tmp_path):
    """Two threads with the same job: trained once, both have the result."""
    job = tiny_job(tmp_path)
    results, events, begun = [], [], threading.Event()

    def first(event):
        begun.set()

    def second(event):
        events.append(event.kind)

    one = threading.Thread(target=lambda: results.append(run_trial(job, first)))
    one.start()
    begun.wait(PATIENCE)
    results.append(run_trial(job, second))
    one.join()
    assert results[0] == results[1]
    assert set(events[:-1]) == {"waiting"} and events[-1] == "finished"  # told again and again while it waits
    assert len(folder_of(job).config()["sessions"]) == 1


def test_the_one_who_waits_is_told_of_the_failure(tmp_path):
    job = tiny_job(tmp_path)
    begun, waiting = threading.Event(), threading.Event()

    def fail(event):
        begun.set()
        waiting.wait(PATIENCE)
        raise ZeroDivisionError("in the first")

    def first():
        with pytest.raises(ZeroDivisionError):
            run_trial(job, fail)

    one = threading.Thread(target=first)
    one.start()
    begun.wait(PATIENCE)
    with pytest.raises(TrialFailed, match="in the first"):
        run_trial(job, lambda event: waiting.set())
    one.join()


def test_an_overtaken_worker_stops_writing(tmp_path):
    job = tiny_job(tmp_path)
    directory = folder_of(job)

    def overtake(event):
        if event.kind == "point":
            (directory.path / "lease.json").write_text(
                json.dumps({"token": "other", "process": {"pid": 1, "started": "1", "machine": "another"}})
            )

    with pytest.raises(LeaseLost):
        run_trial(job, overtake)
    assert [line["samples"] for line in directory.metrics()] == [200]
    assert directory.failure() is None
