"""What a step minimises: parts of a batch, planes, weights, what is refused."""

import pytest
import torch

from gonn_core.errors import SettingError
from gonn_core.training.objective import cross_entropy, loss_kind, squared_error
from tests.training.options import CONV, ENCODER, RESIDUAL, THREE_PLANES, new_trainer, option_config, real_batches


def gradients(config, batch):
    trainer = new_trainer(config)
    losses = trainer._objective.backward(trainer.net, batch, 0)
    return losses, {name: value.grad for name, value in trainer.net.named_parameters()}


@pytest.mark.parametrize(
    "values",
    [
        CONV,
        ENCODER,
        THREE_PLANES,
        {**THREE_PLANES, "training__loss": "squared_error", "training__plane_weights": "harmonic"},
        {**CONV, "training__mask_illegal": True},
    ],
    ids=["conv", "encoder", "planes", "planes_squared", "masked"],
)
def test_parts_of_a_batch_add_up_to_it(values):
    """Also where some positions have no later move, so that parts have other counts than the whole."""
    config = option_config("", **values)
    (batch,) = real_batches(config, 1)
    if "future" in batch.extras:
        batch.extras["future"][[0, 3], 1] = -1
    whole, expected = gradients(config, batch)
    parted, found = gradients(option_config("", **values, training__batch_splits=4), batch)
    assert parted.total.item() == pytest.approx(whole.total.item(), rel=1e-6) and parted.nats.item() == pytest.approx(
        whole.nats.item(), rel=1e-6
    )
    largest = max(gradient.abs().max().item() for gradient in expected.values())
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-6 * largest, msg=name)


@pytest.mark.parametrize(
    "values, reason",
    [
        ({}, "batch normalisation"),
        ({**RESIDUAL, "net__residual__block": "golois"}, "batch normalisation"),
        ({**CONV, "net__conv__dropout": 0.5}, "dropout"),
    ],
)
def test_parts_that_would_differ_from_the_whole_are_refused(values, reason):
    with pytest.raises(
        SettingError, match=f"training.batch_splits=2: not equal to the whole batch: {reason}.*valid: 1"
    ):
        new_trainer(option_config("", **values, training__batch_splits=2))


def test_a_loss_that_would_never_be_used_is_refused():
    with pytest.raises(
        SettingError, match="training.loss_from=800: squared_error would never be trained on; valid: below samples"
    ):
        new_trainer(option_config("", training__loss="squared_error", training__loss_from=800))


def test_another_loss_takes_over_at_its_sample():
    training = option_config("", training__loss="squared_error", training__loss_from=16).training
    assert [loss_kind(training, samples) for samples in (0, 15, 16, 799)] == [
        "cross_entropy",
        "cross_entropy",
        "squared_error",
        "squared_error",
    ]


@pytest.mark.parametrize(
    "weights, factors", [("mean", (1 / 3, 1 / 3, 1 / 3)), ("sum", (1, 1, 1)), ("harmonic", (1, 1 / 2, 1 / 3))]
)
def test_planes_are_weighted_and_nats_are_of_the_next_move(weights, factors):
    config = option_config("", **THREE_PLANES, training__plane_weights=weights, training__loss="squared_error")
    (batch,) = real_batches(config, 1)
    assert (batch.extras["future"] >= 0).all()
    trainer = new_trainer(config)
    with torch.no_grad():
        policies = trainer.net.policies(trainer.net.body(batch.planes))
    moves = (batch.targets, *batch.extras["future"].T)
    loss = trainer.step(batch).item()
    assert loss == pytest.approx(
        sum(
            f * squared_error(policies[:, k], move).item()
            for k, (f, move) in enumerate(zip(factors, moves, strict=True))
        ),
        rel=1e-6,
    )
    means = trainer.train_means()
    assert means["loss"] == pytest.approx(loss)
    assert means["nats"] == pytest.approx(cross_entropy(policies[:, 0], batch.targets).item(), rel=1e-6)


def test_the_policys_weight_scales_the_loss_alone():
    half, full = (new_trainer(option_config("", training__policy_weight=weight)) for weight in (0.5, 1.0))
    (batch,) = real_batches(half.config, 1)
    assert half.step(batch).item() == 0.5 * full.step(batch).item()
    means = half.train_means()
    assert means["nats"] == full.train_means()["nats"] and means["loss"] == 0.5 * means["nats"]
