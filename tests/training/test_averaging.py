"""Averaged weights: their formula, batch normalisation, what is evaluated and kept."""

import pytest
import torch

from gonn_core.settings.training import AveragingConfig
from gonn_core.training.loop import Average
from tests.training.options import new_trainer, option_config, real_batches


def test_the_running_average_of_scripted_weights():
    """1st as it is; then means of 2 and of 3; from then on the newest weighs 1/3 (window 2)."""
    net = torch.nn.Linear(1, 1, bias=False)
    average = Average(AveragingConfig(every=2, window=2), net)
    found = []
    for step, weight in enumerate([9.0, 1.0, 9.0, 4.0, 9.0, 7.0, 9.0, 10.0], 1):
        torch.nn.init.constant_(net.weight, weight)
        average.step(step)
        found.append(average.net.weight.item())
    slow, expected = 1.0, []
    for n, weight in ((0, 1.0), (1, 4.0), (2, 7.0), (2, 10.0)):
        slow = (n * slow + weight) / (n + 1)
        expected += [slow, slow]
    assert found[1:] == pytest.approx([*expected[:-1]], rel=1e-6)
    assert net.weight.item() == 10  # training goes on from the raw weights


def test_raw_weights_until_the_first_average():
    trainer = new_trainer(option_config("averaging"))
    first, second = real_batches(trainer.config, 2)
    trainer.step(first)
    assert trainer.evaluated_net is trainer.net
    trainer.step(second)
    assert trainer.evaluated_net is not trainer.net and not trainer.evaluated_net.training and trainer.net.training
    for name, tensor in trainer.net.state_dict().items():
        assert torch.equal(tensor, trainer.evaluated_net.state_dict()[name]), name


def test_statistics_of_batch_normalisation_are_averaged_too():
    trainer = new_trainer(option_config("averaging"))
    seen = []
    for batch in real_batches(trainer.config, 4):
        trainer.step(batch)
        seen.append({name: tensor.clone() for name, tensor in trainer.net.state_dict().items()})
    for name, tensor in trainer.evaluated_net.state_dict().items():
        torch.testing.assert_close(tensor, (seen[1][name] + seen[3][name]) / 2, msg=name)
    assert any(name.endswith("variance") for name in seen[0])
