"""Accuracy in training: counted position by position, the same in parts of a batch, and kept over a pause."""

import pytest
import torch

from tests.training.options import CONV, ENCODER, THREE_PLANES, new_trainer, option_config, real_batches


def counted(trainer, batch) -> int:
    """Positions whose move has the largest logit among the points that training is over, one at a time."""
    with torch.no_grad():
        logits = trainer.net.policies(trainer.net.body(batch.planes))[:, 0]
    hits = 0
    for number, move in enumerate(batch.targets.tolist()):
        points = range(361)
        if trainer.config.training.mask_illegal:
            points = [point for point in points if not batch.extras["illegal"][number, point]]
        hits += max(points, key=lambda point: logits[number, point].item()) == move
    return hits


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"training__mask_illegal": True},
        {**CONV, "training__batch_splits": 4},
        {**THREE_PLANES, "training__optimiser__learning_rate": 0.02},
        {**ENCODER, "training__policy_weight": 0.5},
    ],
    ids=["plain", "masked", "parts", "planes", "weighted"],
)
def test_it_is_the_share_of_first_choices(values):
    config = option_config("", **values)
    trainer, (batch,) = new_trainer(config), real_batches(config, 1)
    hits = 0
    for _ in range(30):
        hits += counted(trainer, batch)
        trainer.step(batch)
    assert 0 < hits < 240 and trainer.train_means()["top1"] == hits / 240
    trainer.forget_loss()
    assert trainer.train_means().keys() == {"nats"}
