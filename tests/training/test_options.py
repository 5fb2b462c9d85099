"""Every option of a training step learns a few positions, resumes bit for bit, and keeps its numbers finite in bf16."""

from statistics import median

import pytest
import torch

from tests.training.options import OPTIONS, new_trainer, option_config, real_batches


@pytest.mark.parametrize("name", OPTIONS)
def test_it_learns_a_few_positions(name):
    """The median of the last steps: where the loss overshoots for a step, in some nets, hangs on the last bits of the
    processor's sums."""
    config = option_config(name)
    trainer, (batch,) = new_trainer(config), real_batches(config, 1)
    losses = [trainer.step(batch).item() for _ in range(60)]
    assert median(losses[-9:]) < 0.7 * losses[0], losses[::10]


@pytest.mark.parametrize("name", OPTIONS)
def test_resumed_equals_uninterrupted(name):
    config = option_config(name)
    batches = real_batches(config, 8)
    whole, parted = new_trainer(config), new_trainer(config)
    losses = [whole.step(batch).item() for batch in batches]
    for batch in batches[:5]:
        parted.step(batch)
    state = {key: tensor.clone().contiguous() for key, tensor in parted.state().items()}
    resumed = new_trainer(config)
    resumed.load_state(state)
    assert [resumed.step(batch).item() for batch in batches[5:]] == losses[5:]
    assert resumed.rate == whole.rate and (resumed.train_nats(), resumed.train_loss()) == (
        whole.train_nats(),
        whole.train_loss(),
    )
    for one, other in (
        (whole.state(), resumed.state()),
        (whole.evaluated_net.state_dict(), resumed.evaluated_net.state_dict()),
    ):
        assert one.keys() == other.keys()
        for key, tensor in one.items():
            assert torch.equal(tensor, other[key]), key


@pytest.mark.parametrize("name", OPTIONS)
def test_bf16_is_finite(name):
    config = option_config(name, training__precision="bf16")
    trainer = new_trainer(config)
    for batch in real_batches(config, 2):
        assert torch.isfinite(trainer.step(batch))
    assert all(torch.isfinite(value).all() for value in trainer.net.parameters())
    assert trainer.train_nats() < 8
