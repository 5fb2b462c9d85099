"""Nets that predict the reply and the move after it are evaluated on all three, against the games' own moves."""

import numpy as np
import pytest
import torch

from gonn_core.evaluation.evaluate import evaluate
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.go.layout import FIRST, FLAGS, MOVE
from gonn_core.nets import trial_net
from gonn_core.training.batches import PlaneMaker
from gonn_core.trial.run import run_trial
from tests.training.options import CPU, THREE_PLANES
from tests.trial.helpers import starter_data, tiny_config, tiny_job


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The stored evaluation of a net with three planes, and what it gives to every point."""
    small = {"training__samples": 16, "training__batch_size": 8}
    config = tiny_config(**THREE_PLANES, **small)
    job = tiny_job(tmp_path_factory.mktemp("planes"), config)
    run_trial(job)
    (evaluation,) = load_evaluations(f"{job.run.runs}/{job.id}")
    return config, evaluation


def test_each_plane_against_the_moves_of_its_game(answers):
    _, evaluation = answers
    moves = starter_data().store.moves
    for plane in (2, 3):
        nats = evaluation.scores.later_nats[:, plane - 2]
        for row, value in zip(evaluation.rows[::37].astype(int), nats[::37], strict=True):
            later = row + plane - 1
            goes_on = later < len(moves) and not (moves[row + 1 : later + 1, FLAGS] & FIRST).any()
            assert np.isfinite(value) == (goes_on and 0 <= moves[later, MOVE] < 361)
    ranks = evaluation.scores.later_rank
    assert ((ranks >= 0) == np.isfinite(evaluation.scores.later_nats)).all()


def test_the_first_plane_is_scored_as_without_the_others(answers):
    config, evaluation = answers
    maker = PlaneMaker(starter_data().store, config.features, CPU, torch.channels_last)
    net = trial_net(config)
    rows = evaluation.rows[:100].astype(np.int64)
    alone = evaluate(net, maker, rows, "full")
    maker = PlaneMaker(starter_data().store, config.features, CPU, torch.channels_last, ("future", "future"))
    together = evaluate(net, maker, rows, "full")
    assert alone.later_nats is None and together.later_nats.shape == (100, 2)
    assert np.array_equal(alone.nats, together.nats) and np.array_equal(alone.rank, together.rank)
