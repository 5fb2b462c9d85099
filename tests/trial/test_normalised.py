"""A trial on normalised planes: measured on its training view at the start, carried by everything that holds
weights."""

import pytest
import torch

from gonn_core.config import with_values
from gonn_core.errors import SettingError
from gonn_core.features.source import plane_source
from gonn_core.nets.policy_net import measured
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import load_net
from tests.trial.helpers import starter_data, tiny_config, tiny_job


def job_of(runs, **values):
    return tiny_job(runs, tiny_config(features__normalisation="per_plane", training__samples=400, **values))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted trial."""
    job = job_of(tmp_path_factory.mktemp("normalised"))
    run_trial(job)
    return job


def test_snapshots_carry_what_the_view_gave(whole):
    data = starter_data()
    expected = measured(whole.config.features, plane_source(data.store), data.views["train"].rows)
    for samples in (None, min(TrialDirectory(f"{whole.run.runs}/{whole.id}").snapshots())):
        net, _ = load_net(f"{whole.run.runs}/{whole.id}", samples)
        assert torch.equal(net.normalise.shift.flatten(), torch.from_numpy(expected.shift))
        assert torch.equal(net.normalise.scale.flatten(), torch.from_numpy(expected.scale))


def test_filters_of_games_are_refused(tmp_path):
    config = with_values(tiny_config(), {"data.games.min_rank": 5})
    with pytest.raises(SettingError) as caught:
        run_trial(tiny_job(tmp_path, config))
    assert str(caught.value) == (
        "data.games={'min_rank': 5}: a study turns filters into a view; a trial has the view's digest alone; "
        "valid: no filter"
    )
