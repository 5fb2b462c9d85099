"""Training of Cazenave's nets, taken out and put back, goes on bit for bit."""

import pytest
import torch

from gonn_core.config import TrialConfig, with_values
from gonn_core.nets.residual.blocks import BLOCKS
from gonn_core.training.batches import Batch
from gonn_core.training.loop import Trainer

CPU = torch.device("cpu")


def batches(count, size=4, planes=26):
    generator = torch.Generator().manual_seed(3)
    for _ in range(count):
        yield Batch(
            (torch.rand(size, planes, 19, 19, generator=generator) < 0.3).float(),
            torch.randint(0, 361, (size,), generator=generator),
        )


@pytest.mark.parametrize("loss", ["cross_entropy", "squared_error"])
@pytest.mark.parametrize("block", BLOCKS)
def test_resumed_is_the_same(block, loss):
    config = with_values(
        TrialConfig(),
        {
            "net.family": "residual",
            "net.residual.block": block,
            "net.residual.width": 6,
            "net.residual.blocks": 2,
            "training.samples": 24,
            "training.batch_size": 4,
            "training.loss": loss,
            "training.optimiser.learning_rate": 0.05,
            "training.optimiser.momentum": 0.0,
            "training.optimiser.nesterov": False,
            "training.schedule.kind": "linear",
        },
    )
    whole, first, second = (Trainer(config, 1000, CPU, "channels_last") for _ in range(3))
    losses = [whole.step(batch).item() for batch in batches(6)]
    for batch in list(batches(6))[:3]:
        first.step(batch)
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    assert [second.step(batch).item() for batch in list(batches(6))[3:]] == losses[3:]
    assert all(torch.equal(values, second.state()[name]) for name, values in whole.state().items())
