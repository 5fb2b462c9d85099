"""Which lines of metrics look at validation games."""

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import RunSettings, last_look
from gonn_core.trial.run import run_trial
from tests.trial.helpers import tiny_config, tiny_job


def test_every_second_line_and_the_last_one_look(tmp_path):
    job = tiny_job(tmp_path, tiny_config(training__samples=240), progress_points=3, look_every=2)
    result, lines = run_trial(job), TrialDirectory(tmp_path / job.id).metrics()
    assert ["nats" in line for line in lines] == [True, False, True] and [line["looks"] for line in lines] == [1, 1, 2]
    assert lines[2]["nats"] == result["nats"] == last_look(lines)
    assert last_look(lines[:2]) == lines[0]["nats"] and last_look([]) is None


def test_looks_are_counted_from_the_end():
    made = RunSettings(store="", progress_view="0" * 20)
    assert made.looks == 12 and made.model_copy(update={"look_every": 5}).looks == 3
    assert made.model_copy(update={"progress_view": None}).looks == 0
