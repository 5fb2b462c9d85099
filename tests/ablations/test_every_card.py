"""Every card and every base that is declared: their nets build, count and train. No card is known here by its name."""

import numpy as np
import pytest
import torch

from ablations.arms import resolve
from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.config import with_values
from gonn_core.features.sets import padding, plane_names
from gonn_core.nets.cost import multiply_adds, trainable_parameters
from gonn_core.nets.init import ShapesOnly
from gonn_core.nets.registry import build_net
from gonn_core.training.batches import PlaneMaker, extras_of, training_batches
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Trainer
from tests.trial.helpers import starter_data

REGISTRY = load_registry()
CPU = torch.device("cpu")
POSITIONS = 2


def parameters(config) -> int:
    """Of the policy's net, from its shapes alone."""
    return trainable_parameters(
        build_net(config.net, plane_names(config.features), ShapesOnly(), padding(config.features))
    )


@pytest.mark.parametrize("budget", ["smoke", "cpu"])
@pytest.mark.parametrize("card", REGISTRY.cards)
def test_both_arms_of_every_card_build_and_count(card, budget):
    arms = resolve(REGISTRY, card, budget)
    assert arms.off != arms.on
    assert parameters(arms.off) > 0 and parameters(arms.on) > 0
    assert multiply_adds(arms.on.net, len(plane_names(arms.on.features))) > 0


@pytest.mark.parametrize("base", REGISTRY.bases)
def test_every_base_as_published_has_its_count(base):
    declared = REGISTRY.base(base)
    count = parameters(declared.config)
    assert count == declared.parameters or declared.parameters is None and count > 50_000


@pytest.mark.parametrize("base", REGISTRY.bases)
def test_every_base_trains_on_the_smoke_budget(base):
    assert_learns(budget_config(REGISTRY.base(base), REGISTRY.budget("smoke")), steps=2)


def assert_learns(config, steps: int) -> None:
    """Some steps on the bundled games have finite losses and move weights. A few positions at a time show it as well as
    a budget's batch."""
    config = with_values(config, {"training.batch_size": POSITIONS})
    data = starter_data()
    view = data.views["train"]
    reset_torch(1)
    trainer = Trainer(config, len(view.rows), CPU, "channels_last")
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS["channels_last"], extras=extras_of(config))
    before = [values.detach().clone() for values in trainer.net.parameters()]
    losses = [trainer.step(batch).item() for batch in training_batches(config, view, maker, 0, steps, 1)]
    assert np.isfinite(losses).all()
    assert any(not values.equal(old) for values, old in zip(trainer.net.parameters(), before, strict=True))
