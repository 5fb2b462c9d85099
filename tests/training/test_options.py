"""Options of a training step learn a few positions, and keep their numbers finite in bf16. `tests/nets/test_cards.py`
resumes them, as arms of cards."""

from statistics import median

import pytest
import torch

from tests.training.options import new_trainer, option_config, real_batches


@pytest.mark.parametrize(
    "name",
    ["three_planes", "muon_adamw", "inverted", "nested", "mish_fixup", "conv_dropout", "tied", "residual", "encoder"],
)
def test_it_learns_a_few_positions(name):
    """The median of the last steps: whether the loss overshoots for a step, in some nets, depends on the last bits of
    the processor's sums."""
    config = option_config(name)
    trainer, (batch,) = new_trainer(config), real_batches(config, 1)
    losses = [trainer.step(batch).item() for _ in range(60)]
    assert median(losses[-9:]) < 0.7 * losses[0], losses[::10]


@pytest.mark.parametrize("name", ["squared_error", "three_planes", "residual", "conv_dropout", "tied", "encoder"])
def test_bf16_is_finite(name):
    config = option_config(name, training__precision="bf16")
    trainer = new_trainer(config)
    for batch in real_batches(config, 2):
        assert torch.isfinite(trainer.step(batch))
    assert all(torch.isfinite(value).all() for value in trainer.net.parameters())
    assert trainer.train_means()["nats"] < 8
