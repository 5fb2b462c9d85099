"""Each enhancement of the encoder learns a few positions and keeps its numbers finite in bf16."""

from statistics import median

import pytest
import torch

from tests.nets.test_encoder import ENHANCEMENTS
from tests.training.options import ENCODER, new_trainer, option_config, real_batches

NAMES = list(ENHANCEMENTS)
ADAMW = {"training__optimiser__kind": "adamw", "training__optimiser__learning_rate": 0.01}


def config_with(name: str, **values):
    parts = {
        f"net__encoder__{part}": value for part, value in {**ENHANCEMENTS[name], "smolgen_sizes": [2, 6, 3]}.items()
    }
    return option_config("encoder", **ENCODER, **parts, **ADAMW, **values)


@pytest.mark.parametrize("name", NAMES)
def test_it_learns_a_few_positions(name):
    """The median of the last steps: where the loss overshoots for a step, in some nets, hangs on the last bits of the
    processor's sums."""
    config = config_with(name)
    trainer, (batch,) = new_trainer(config), real_batches(config, 1)
    losses = [trainer.step(batch).item() for _ in range(60)]
    assert median(losses[-9:]) < 0.7 * losses[0], losses[::10]


@pytest.mark.parametrize("name", NAMES)
def test_bf16_is_finite(name):
    config = config_with(name, training__precision="bf16")
    trainer = new_trainer(config)
    for batch in real_batches(config, 2):
        assert torch.isfinite(trainer.step(batch))
    assert all(torch.isfinite(value).all() for value in trainer.net.parameters())
