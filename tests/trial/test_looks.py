"""Which lines of metrics look at validation games."""

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import RunSettings, last_look
from gonn_core.trial.run import run_trial
from tests.trial.helpers import tiny_config, tiny_job


def lines(tmp_path, **settings):
    job = tiny_job(tmp_path, tiny_config(), **settings)
    result = run_trial(job)
    return TrialDirectory(tmp_path / job.id).metrics(), result


def test_every_second_line_and_the_last_one_look(tmp_path):
    every, _ = lines(tmp_path / "every", progress_points=3)
    some, result = lines(tmp_path / "some", progress_points=3, look_every=2)
    assert [line["samples"] for line in some] == [line["samples"] for line in every]
    assert [line["train_nats"] for line in some] == [line["train_nats"] for line in every]
    assert ["nats" in line for line in some] == [True, False, True] and [line["looks"] for line in some] == [1, 1, 2]
    assert some[2]["nats"] == every[2]["nats"] == result["nats"] == last_look(some)
    assert last_look(some[:2]) == every[0]["nats"] and last_look([]) is None


def test_looks_are_counted_from_the_end():
    made = RunSettings(store="", progress_view="0" * 20)
    assert made.looks == 12 and made.model_copy(update={"look_every": 5}).looks == 3
    assert made.model_copy(update={"progress_view": None}).looks == 0
