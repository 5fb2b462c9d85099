"""Every card, from the registry: training resumes bit for bit, every parameter learns, and both arms start alike. No
card is known here by its name."""

from functools import cache
from typing import NamedTuple

import pytest
import torch

from ablations.arms import resolve
from ablations.registry import load_registry
from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from tests.training.options import new_trainer, real_batches

REGISTRY = load_registry()
STEPS, PAUSED = 4, 2


def changes(card: str) -> list[str]:
    arms = resolve(REGISTRY, card, "smoke")
    return [path for path in config_paths() if get_path(arms.off, path) != get_path(arms.on, path)]


def arm(card: str, state: str) -> TrialConfig:
    """An arm on the smoke budget, on batches of 8."""
    config = getattr(resolve(REGISTRY, card, "smoke"), state)
    return with_values(config, {"training.batch_size": 8})


class Trained(NamedTuple):
    """What a few steps of training left."""

    start: dict[str, torch.Tensor]
    losses: list[float]
    state: dict[str, torch.Tensor]
    resumed_losses: list[float]
    resumed_state: dict[str, torch.Tensor]
    without_gradient: set[str]


@cache
def trained(config: TrialConfig) -> Trained:
    """Trained without a pause, and by another trainer from the state after the first steps on."""
    batches = real_batches(config, STEPS)
    whole, resumed = new_trainer(config), new_trainer(config)
    start = {name: value.detach().clone() for name, value in whole.net.named_parameters()}
    still, losses = set(start), []
    for number, batch in enumerate(batches):
        if number == PAUSED:
            resumed.load_state({name: tensor.clone().contiguous() for name, tensor in whole.state().items()})
        losses.append(whole.step(batch).item())
        still -= {name for name, value in whole.net.named_parameters() if value.grad is not None and value.grad.any()}
    torch.manual_seed(9)
    rest = [resumed.step(batch).item() for batch in batches[PAUSED:]]
    return Trained(start, losses, whole.state(), rest, resumed.state(), still)


@pytest.mark.parametrize("state", ["off", "on"])
@pytest.mark.parametrize("card", REGISTRY.cards)
def test_training_resumes_bit_for_bit(card, state):
    run = trained(arm(card, state))
    assert torch.isfinite(torch.tensor(run.losses)).all()
    assert run.resumed_losses == run.losses[PAUSED:]
    assert run.state.keys() == run.resumed_state.keys()
    assert [name for name, tensor in run.state.items() if not torch.equal(tensor, run.resumed_state[name])] == []


@pytest.mark.parametrize("state", ["off", "on"])
@pytest.mark.parametrize("card", REGISTRY.cards)
def test_every_parameter_gets_a_gradient_within_some_steps(card, state):
    config = arm(card, state)
    assert [name for name in trained(config).without_gradient if not learns_nothing(name, config)] == []


def learns_nothing(name: str, config: TrialConfig) -> bool:
    """Whether a parameter cannot learn: in the head of a policy that is not trained, and slopes behind a maximum over
    the board, which is positive."""
    behind_maximum = name == "head.pooled.slopes" and config.net.head.pooling == "max"
    return behind_maximum or config.training.policy_weight == 0 and name.startswith(("head.", "last."))


@pytest.mark.parametrize("card", REGISTRY.cards)
def test_what_both_arms_have_starts_from_the_same_draws(card):
    if any(path.rpartition(".")[2].endswith("init") for path in changes(card)):
        pytest.skip("the start itself is what the card changes")
    off, on = (trained(arm(card, state)).start for state in ("off", "on"))
    common = [name for name in off if name in on and off[name].shape == on[name].shape]
    assert [name for name in common if not of_the_same_draws(off[name], on[name])] == []


def of_the_same_draws(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Equal, or in proportion: where more is added up, as in a deeper net, draws are smaller."""
    return torch.equal(first, second) or torch.allclose(first * (second.std() / first.std()), second, atol=1e-7)
