"""The speed of an arm alone is measured on random targets in the shapes and types of real ones."""

import itertools

import torch

from gonn_core.nets.auxiliary import HEADS
from gonn_core.training.speed import measure_speed, random_batches
from tests.training.options import CPU, THREE_PLANES, option_config, real_batches

ALL_HEADS = {f"training__auxiliary__{name}": 0.1 for name in HEADS}


def test_random_targets_look_like_real_ones():
    for values in ({**ALL_HEADS, "training__mask_illegal": True}, THREE_PLANES):
        config = option_config("", **values)
        (real,), (made,) = real_batches(config, 1), itertools.islice(random_batches(config, CPU, "channels_last"), 1)
        assert made.planes.shape == real.planes.shape and made.targets.shape == real.targets.shape
        assert made.extras.keys() == real.extras.keys() and made.extras
        for name, values in real.extras.items():
            assert made.extras[name].shape == values.shape and made.extras[name].dtype == values.dtype, name


def test_a_trial_with_every_target_can_be_measured():
    config = option_config("", **ALL_HEADS, training__mask_illegal=True)
    assert all(rate > 0 for rate in measure_speed(config, torch.device("cpu"), 0.01))
