"""Whole trials with options of the step that keep a state of their own: paused and resumed, and what their files
hold."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch

from gonn_core.evaluation.metrics import VALUES
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import load_net, unpack
from tests.training.options import THREE_PLANES
from tests.trial.helpers import tiny_config, tiny_job

AVERAGED = {"training__averaging__every": 2, "training__averaging__window": 4}
CAZENAVE = {
    **THREE_PLANES,
    "training__loss": "squared_error",
    "training__mask_illegal": True,
    "training__schedule__kind": "stall_halving",
    "training__schedule__stall_window": 24,
}


def folder(job) -> Path:
    return Path(job.run.runs) / job.id


def test_the_averaged_weights_are_kept_and_evaluated(tmp_path):
    """Evaluations look at the snapshot, and the last line of metrics at the same weights: with all validation positions
    they agree."""
    job = tiny_job(tmp_path, tiny_config(training__samples=240, **AVERAGED), progress_positions=200)
    result = run_trial(job)
    directory = TrialDirectory(folder(job))
    state, _ = unpack(directory.checkpoint, job.id)
    net, _ = load_net(directory.path)
    names = list(net.state_dict())
    assert all(torch.equal(net.state_dict()[name], state[f"average.net.{name}"]) for name in names)
    assert not all(torch.equal(state[f"net.{name}"], state[f"average.net.{name}"]) for name in names)
    assert result["nats"] == directory.metrics()[-1]["nats"]
    (evaluation,) = result["evaluations"]
    assert evaluation["weights"] == result["weights"] and evaluation["nats"] == pytest.approx(result["nats"], abs=1e-6)


def test_lines_tell_the_true_rate_and_the_loss_that_is_minimised(tmp_path):
    job = tiny_job(
        tmp_path,
        tiny_config(training__samples=240, training__optimiser__learning_rate=0.3, **CAZENAVE),
        progress_points=10,
    )
    result = run_trial(job)
    lines = TrialDirectory(folder(job)).metrics()
    rates, losses = [line["learning_rate"] for line in lines], [line["train_loss"] for line in lines]
    assert (
        rates == sorted(rates, reverse=True)
        and rates[-1] < rates[0] == 0.3
        and all((0.3 / rate).is_integer() for rate in rates)
    )
    assert all(0 < loss < 2 for loss in losses) and all(line["train_nats"] > 2 for line in lines)
    # a point and a window are the same 24 samples: the rate falls after each rise
    halvings = [sum(b > a for a, b in pairwise(losses[:k])) for k in range(10)]
    assert rates == pytest.approx([0.3 * 0.5**n for n in halvings])
    assert result["train_loss"] == losses[-1]


def test_lines_tell_accuracy_in_training_shares_by_probability_and_search_loss(tmp_path):
    """The last line looks at the weights that are evaluated: on the same positions the shares are the same."""
    config = tiny_config(training__samples=240, training__auxiliary__value=0.2)
    job = tiny_job(tmp_path, config, progress_positions=200, progress_points=3)
    result = run_trial(job)
    directory = TrialDirectory(folder(job))
    *_, last = lines = directory.metrics()
    for line in lines:
        assert (80 * line["train_top1"]).is_integer() and 0 <= line["train_value_accuracy"] <= 1
        assert line["train_loss"] == pytest.approx(line["train_nats"] + 0.2 * line["train_value"], rel=1e-6)
    assert {name: result[name] for name in ("train_top1", "train_value", "train_value_accuracy")} == {
        name: last[name] for name in ("train_top1", "train_value", "train_value_accuracy")
    }
    (evaluation,) = load_evaluations(directory.path)
    for name in ("p1", "p2", "p5", "p10", "p25", "p50", "search_loss"):
        assert last[name] == pytest.approx(VALUES[name](evaluation.scores).mean())
    assert [last[f"p{percent}"] for percent in (1, 2, 5)] == sorted((last[f"p{n}"] for n in (1, 2, 5)), reverse=True)
