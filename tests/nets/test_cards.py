"""Every card and every base, from the registry: training resumes bit for bit, every parameter learns, and both arms of
a card start alike. No card is known here by its name."""

from functools import cache

import pytest
import torch

from ablations.arms import resolve
from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from tests.training.options import new_trainer, real_batches

REGISTRY = load_registry()
STEPS, PAUSED, BATCH = 3, 2, 4


def arm(card: str, state: str) -> TrialConfig:
    """An arm on the smoke budget, on small batches."""
    config = getattr(resolve(REGISTRY, card, "smoke"), state)
    return with_values(config, {"training.batch_size": BATCH})


ARMS = {
    with_values(budget_config(REGISTRY.base(base), REGISTRY.budget("smoke")), {"training.batch_size": BATCH}): base
    for base in REGISTRY.bases
}
ARMS |= {arm(card, state): f"{card}-{state}" for card in REGISTRY.cards for state in ("off", "on")}
"""Each configuration once, named by one of its cards, or by its base where it is no card's."""


@pytest.mark.parametrize("config", ARMS, ids=ARMS.values())
def test_training_resumes_bit_for_bit_and_every_parameter_gets_a_gradient(config):
    """Trained without a pause, and by another trainer from the state after the first steps on."""
    batches = real_batches(config, STEPS, BATCH)
    whole, resumed = new_trainer(config), new_trainer(config)
    losses, still = [], {name for name, _ in whole.net.named_parameters()}
    for number, batch in enumerate(batches):
        if number == PAUSED:
            resumed.load_state({name: tensor.clone().contiguous() for name, tensor in whole.state().items()})
        losses.append(whole.step(batch).item())
        still -= {name for name, value in whole.net.named_parameters() if value.grad is not None and value.grad.any()}
    torch.manual_seed(9)
    assert torch.isfinite(torch.tensor(losses)).all()
    assert [resumed.step(batch).item() for batch in batches[PAUSED:]] == losses[PAUSED:]
    one, other = whole.state(), resumed.state()
    assert one.keys() == other.keys()
    assert [name for name, tensor in one.items() if not torch.equal(tensor, other[name])] == []
    assert [name for name in still if not learns_nothing(name, config)] == []


def learns_nothing(name: str, config: TrialConfig) -> bool:
    """Whether a parameter cannot learn: in the head of a policy that is not trained, and slopes behind a maximum over
    the board, which is positive."""
    behind_maximum = name == "head.pooled.slopes" and config.net.head.pooling == "max"
    return behind_maximum or config.training.policy_weight == 0 and name.startswith(("head.", "last."))


@cache
def start(config: TrialConfig) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in new_trainer(config).net.named_parameters()}


@pytest.mark.parametrize("card", REGISTRY.cards)
def test_what_both_arms_have_starts_from_the_same_draws(card):
    off, on = (arm(card, state) for state in ("off", "on"))
    if any(path.endswith("init") and get_path(off, path) != get_path(on, path) for path in config_paths()):
        pytest.skip("the start itself is what the card changes")
    one, other = start(off), start(on)
    common = [name for name in one if name in other and one[name].shape == other[name].shape]
    assert [name for name in common if not of_the_same_draws(one[name], other[name])] == []


def of_the_same_draws(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Equal, or in proportion: where more is added up, as in a deeper net, draws are smaller."""
    return torch.equal(first, second) or torch.allclose(first * (second.std() / first.std()), second, atol=1e-7)
