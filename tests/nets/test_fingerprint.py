"""Nets in a few numbers: what makes them others, and what does not."""

import numpy as np
import pytest

from gonn_core.config import TrainingConfig, TrialConfig
from gonn_core.nets.cost import trainable_parameters
from gonn_core.nets.fingerprint import fingerprint
from gonn_core.nets.registry import trial_net
from tests.nets.examples import SPECIAL, TINY, changed


def numbers(net, **training) -> np.ndarray:
    return np.array(fingerprint(TrialConfig(net=net, training=TrainingConfig(**training)))["numbers"])


def test_it_counts_what_training_moves():
    config = TrialConfig(net=SPECIAL)
    assert fingerprint(config)["parameters"] == trainable_parameters(trial_net(config))


def test_seeds_make_no_other_net():
    assert (numbers(TINY) == numbers(TINY, init_seed=3, data_seed=4)).all()


@pytest.mark.parametrize(
    "other",
    [{"trunk": {"dilations": ()}}, {"trunk": {"center_init": 0.0}}],
)
def test_as_many_parameters_are_not_the_same_net(other):
    one, two = TINY, changed(TINY, **other)
    assert fingerprint(TrialConfig(net=one))["parameters"] == fingerprint(TrialConfig(net=two))["parameters"]
    assert abs(numbers(one) - numbers(two)).max() > 1e-3 * numbers(one)[0]
