"""A trial of every plane set, trained and evaluated; its numbers do not depend on the threads that make its planes."""

from gonn_core.trial.run import run_trial
from tests.features.configs import CLARK
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job


def planes_config(features):
    return tiny_config(
        **{f"features__{name}": value for name, value in features.model_dump().items()}, training__samples=160
    )


def test_a_trial_does_not_depend_on_the_threads_that_make_its_planes(tmp_path):
    config = planes_config(CLARK)
    assert config.features == CLARK
    for threads in (1, 3):
        job = tiny_job(tmp_path / str(threads), config, loader_threads=threads)
        assert run_trial(job)["state"] == "done"
    assert_same_trial(tmp_path / "1" / job.id, tmp_path / "3" / job.id)
