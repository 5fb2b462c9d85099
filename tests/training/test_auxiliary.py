"""Auxiliary heads: they fit nets of every family, ask for their targets, tell loss and accuracy, change the body."""

from statistics import median

import pytest
import torch

from gonn_core.nets.auxiliary import HEADS
from gonn_core.training.batches import extras_of
from tests.training.options import new_trainer, option_config, real_batches

RATES = {"ladders": 0.003, "moves_left": 0.02}


def alone(name: str, **values):
    """A configuration that learns this head's target and nothing else."""
    rate = {"training__optimiser__learning_rate": RATES.get(name, 0.1)}
    return option_config("", **{"training__policy_weight": 0.0, f"training__auxiliary__{name}": 1.0, **rate, **values})


@pytest.mark.parametrize("family", ["conv", "residual", "encoder"])
def test_heads_fit_every_family(family):
    config = option_config(family, **{f"training__auxiliary__{name}": 0.01 for name in HEADS})
    trainer, (batch,) = new_trainer(config), real_batches(config, 1)
    losses = [trainer.step(batch).item() for _ in range(12)]
    assert median(losses[1:]) < losses[0]
    assert all(values.grad is not None for values in trainer.net.auxiliary.parameters())


def test_targets_that_a_trial_needs():
    assert extras_of(option_config("")) == ()
    assert extras_of(option_config("three_planes")) == ("future", "future")
    assert extras_of(option_config("mask_illegal")) == ("illegal",)
    assert extras_of(
        option_config("three_planes", training__auxiliary__joint_reply=0.1, training__policy_weight=0.0)
    ) == ("future",)
    assert set(extras_of(option_config("", **{f"training__auxiliary__{name}": 0.1 for name in HEADS}))) == {
        *("future", "ladders", "next_occupant", "removal_time", "ownership", "value", "moves_left", "score")
    }


@pytest.mark.parametrize("name", HEADS)
def test_its_loss_and_accuracy(name):
    """Its loss is logged next to the policy's, not weighted, and moves the body; where the head chooses an answer, its
    accuracy, by counting."""
    config = alone(name, training__policy_weight=1.0, **{f"training__auxiliary__{name}": 0.25})
    trainer, batches = new_trainer(config), real_batches(config, 3)
    plain = new_trainer(alone(name, training__policy_weight=1.0, **{f"training__auxiliary__{name}": 0.0}))
    plain.step(batches[0])
    heads, expected, right, asked = trainer.net.auxiliary, 0.0, 0, 0
    for batch in batches:
        with torch.no_grad():
            body = trainer.net.body(batch.planes)
            expected += heads[name].loss(body, batch).loss.item() / 3
            if name == "value":
                answers, known = heads[name].pooled(body), batch.extras["value"]
                right += sum(int(answer.argmax()) == int(is_so) for answer, is_so in zip(answers, known, strict=True))
                asked += int((known >= 0).sum())
        trainer.step(batch)
        if batch is batches[0]:
            assert trainer.train_means()["nats"] == plain.train_means()["nats"]
            assert not torch.equal(next(trainer.net.parameters()), next(plain.net.parameters()))
    means = trainer.train_means()
    assert means[name] == pytest.approx(expected, rel=1e-5)
    assert means["loss"] == pytest.approx(means["nats"] + 0.25 * expected, rel=1e-5)
    answering = ("value", "opponent_reply", "joint_reply", "moves_left_class", "score")
    assert (f"{name}_accuracy" in means) == (name in answering)
    if name == "value":
        assert 0 < asked <= 24 and means["value_accuracy"] == right / asked


def test_no_accuracy_without_answers():
    trainer = new_trainer(alone("value"))
    (batch,) = real_batches(trainer.config, 1)
    batch.extras["value"].fill_(-1)
    trainer.step(batch)
    assert trainer.train_means().keys() == {"nats", "loss", "top1", "value"}
