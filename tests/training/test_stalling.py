"""Halving the rate by a script of errors, and where it shows."""

from itertools import pairwise

import pytest
import torch

from gonn_core.config import ScheduleConfig
from gonn_core.training.loop import StallHalving
from tests.training.options import new_trainer, option_config, real_batches

CPU = torch.device("cpu")


def stalling(window):
    return StallHalving(ScheduleConfig(kind="stall_halving", stall_window=window), CPU)


def factors(rule, errors, samples=10):
    found = []
    for error in errors:
        rule.add(torch.tensor(error), samples)
        found.append(rule.factor)
    return found


def test_a_scripted_sequence():
    """Only a mean above that of the window before halves: equal ones and the first one do not, and there is no
    patience."""
    errors = [0.9, 0.8, 0.85, 0.85, 0.86, 0.5, 0.6, 0.4]
    assert factors(stalling(10), errors) == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125]


def test_windows_are_means_over_whole_batches():
    """A window of 25 samples takes three batches of 10; means 2, 1, 4/3."""
    errors = [1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 0.0, 0.0, 4.0]
    assert factors(stalling(25), errors) == [1] * 8 + [0.5]


def test_it_stops_when_the_rate_is_too_small():
    rising = [float(i) for i in range(13)]
    found = factors(stalling(10), rising)
    assert found[10] == 2.0**-10 and found[11:] == [0, 0]


def test_state_goes_in_and_out():
    errors = [0.5, 0.7, 0.3, 0.9, 0.1, 0.6]
    for cut in range(len(errors)):
        first, second = stalling(20), stalling(20)
        factors(first, errors[:cut])
        second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
        assert factors(second, errors[cut:]) == factors(stalling(20), errors)[cut:]


def test_the_trainers_rate_is_the_halved_one():
    trainer = new_trainer(
        option_config("", training__schedule__kind="stall_halving", training__schedule__stall_window=8)
    )
    rates, losses = [], []
    for batch in real_batches(trainer.config, 12):
        losses.append(trainer.step(batch).item())
        rates.append(trainer.rate)
    halvings = [sum(b > a for a, b in pairwise(losses[:k])) for k in range(12)]
    assert halvings[-1] >= 2
    assert rates == pytest.approx([0.1 * 0.5**n for n in halvings])
