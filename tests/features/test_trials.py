"""A trial of every plane set, trained and evaluated; its numbers do not depend on the threads that make its planes."""

import pytest

from gonn_core.trial.run import run_trial
from tests.features.configs import CAZENAVE, CLARK, GO_NN
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job


def planes_config(features):
    return tiny_config(
        **{f"features__{name}": value for name, value in features.model_dump().items()}, training__samples=160
    )


@pytest.mark.parametrize("features", [GO_NN, CLARK, CAZENAVE], ids=lambda features: features.set)
def test_a_trial_of_every_set(features, tmp_path):
    config = planes_config(features)
    assert config.features == features
    for threads in (1, 3):
        job = tiny_job(tmp_path / str(threads), config, loader_threads=threads)
        assert run_trial(job)["state"] == "done"
    assert_same_trial(tmp_path / "1" / job.id, tmp_path / "3" / job.id)
