"""Nets in a few numbers: what makes them others, and what does not."""

import numpy as np
import pytest

from gonn_core.config import FeatureConfig, TrialConfig
from gonn_core.nets.cost import fingerprint, trainable_parameters
from gonn_core.nets.registry import trial_net
from gonn_core.settings.training import AuxiliaryConfig
from tests.nets.examples import SPECIAL, TINY, changed


def of(net) -> tuple[int, np.ndarray]:
    parameters, numbers = fingerprint(net, FeatureConfig(), AuxiliaryConfig())
    return parameters, np.array(numbers)


def test_it_counts_what_training_moves():
    assert of(SPECIAL)[0] == trainable_parameters(trial_net(TrialConfig(net=SPECIAL)))


@pytest.mark.parametrize("other", [{"dilations": ()}, {"center_init": 0.0}])
def test_as_many_parameters_are_not_the_same_net(other):
    (one, numbers), (two, others) = of(TINY), of(changed(TINY, trunk=other))
    assert one == two and abs(numbers - others).max() > 1e-3 * numbers[0]
