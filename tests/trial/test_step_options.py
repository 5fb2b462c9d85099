"""Whole trials with options of the step that keep a state of their own: paused and resumed, and what their files
hold."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch

from gonn_core.config import with_values
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.files.json_files import read_json, write_json
from gonn_core.training.environment import other_masks
from gonn_core.trial.checkpoint import pack, unpack
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import load_net
from tests.training.options import CONV, THREE_PLANES
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job

AVERAGED = {"training__averaging__every": 2, "training__averaging__window": 4}
FROZEN_HISTORY = {"data__history_keep": [0.9, 0.95, 0.95, 0.98, 0.98], "data__history_frozen": True}
CAZENAVE = {
    **THREE_PLANES,
    "training__loss": "squared_error",
    "training__mask_illegal": True,
    "training__schedule__kind": "stall_halving",
    "training__schedule__stall_window": 24,
}

GONN = {
    "training__schedule__kind": "knots",
    "training__schedule__knots": [[0, 1.0], [100, 0.4], [300, 0.2]],
    "training__optimiser__weight_decay": 1e-3,
    "training__loss": "squared_error",
    "training__loss_from": 160,
    "training__loss_rate_factor": 3.0,
    "net__stem__fan_in": "own",
    "net__head__fan_in": "own",
    "net__head__out_scale": 1.0,
}


def folder(job) -> Path:
    return Path(job.run.runs) / job.id


@pytest.mark.parametrize(
    "values",
    [{**AVERAGED, "training__optimiser__kind": "adamw"}, CAZENAVE, FROZEN_HISTORY],
    ids=["averaged_adamw", "stalling", "frozen_history"],
)
def test_resumed_is_the_same(tmp_path, values):
    config = tiny_config(training__samples=240, **values)
    whole, parted = (tiny_job(tmp_path / name, config, progress_points=2) for name in ("whole", "parted"))
    run_trial(whole)
    assert run_trial(parted, lambda event: not (event.kind == "point" and event.samples >= 120))["state"] == "paused"
    torch.manual_seed(9)
    assert run_trial(parted)["state"] == "done"
    assert_same_trial(folder(whole), folder(parted))


def test_dropout_that_goes_on_with_other_masks_says_so(tmp_path):
    job = tiny_job(
        tmp_path, tiny_config(training__samples=48, **CONV, **{"net__conv__dropout": 0.25}), progress_points=2
    )
    assert run_trial(job, lambda event: event.kind != "point")["state"] == "paused"
    path = folder(job) / "config.json"
    tree = read_json(path)
    tree["sessions"][-1] |= {"device": "NVIDIA A100", "multiprocessors": 108}
    write_json(path, tree)
    said = []
    assert run_trial(job, lambda event: said.append(event) if event.kind == "changed" else None)["state"] == "done"
    (message,) = [event.message for event in said]
    assert message.endswith("they follow the device, which was NVIDIA A100 (108 multiprocessors) and is cpu")
    assert other_masks({"device": "cpu"}, {"device": "cpu"}) is None


def test_the_averaged_weights_are_kept_and_evaluated(tmp_path):
    """Evaluations look at the snapshot, and the last line of metrics at the same weights: with all validation positions
    they agree."""
    job = tiny_job(tmp_path, tiny_config(training__samples=240, **AVERAGED), progress_positions=500)
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


def test_an_ordinary_trial_has_one_training_loss(tmp_path):
    job = tiny_job(tmp_path, tiny_config(training__samples=80))
    assert "train_loss" not in run_trial(job) and all(
        "train_loss" not in line for line in TrialDirectory(folder(job)).metrics()
    )


def test_lines_tell_accuracy_in_training_shares_by_probability_and_search_loss(tmp_path):
    """The last line looks at the weights that are evaluated: on the same positions the shares are the same."""
    config = tiny_config(training__samples=240, training__auxiliary__value=0.2)
    job = tiny_job(tmp_path, config, progress_positions=500, progress_points=3)
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
        assert last[name] == pytest.approx(evaluation.position_values(name).mean())
    assert [last[f"p{percent}"] for percent in (1, 2, 5)] == sorted((last[f"p{n}"] for n in (1, 2, 5)), reverse=True)


def test_a_checkpoint_from_before_the_accuracy_was_kept_goes_on(tmp_path):
    """The same weights and losses; the point after it tells the accuracy of the samples since."""
    config = tiny_config(training__samples=240)
    whole, parted = (tiny_job(tmp_path / name, config, progress_points=2) for name in ("whole", "parted"))
    expected = run_trial(whole)
    assert run_trial(parted, lambda event: not (event.kind == "point" and event.samples >= 120))["state"] == "paused"
    path = TrialDirectory(folder(parted)).checkpoint
    tensors, notes = unpack(path, parted.id)
    path.write_bytes(pack(parted.id, {name: t for name, t in tensors.items() if ".seen." not in name}, notes))
    result = run_trial(parted)
    assert result["weights"] == expected["weights"] and result["train_nats"] == expected["train_nats"]
    assert result["train_top1"] == expected["train_top1"]  # a point stood at the pause: nothing was lost


def test_a_step_tells_its_parts(tmp_path, monkeypatch):
    """A step of many parts may take minutes: each part is told, without a change to any number."""
    config = tiny_config(training__samples=24, **CONV)
    expected = run_trial(tiny_job(tmp_path / "whole", config, progress_points=1))
    split = with_values(config, {"training.batch_splits": 4})
    job = tiny_job(tmp_path / "split", split, progress_points=1)
    monkeypatch.setattr("gonn_core.trial.session.TICK_SECONDS", 0.0)
    told = []
    result = run_trial(job, lambda event: told.append(event))
    steps = [event.step for event in told if event.kind == "tick"]
    assert steps == [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75]  # the last one is a point
    assert {event.steps for event in told if event.kind == "tick"} == {3}
    assert result["train_nats"] == pytest.approx(expected["train_nats"], rel=1e-5)


def test_a_pause_asked_for_within_a_step_comes_after_it(tmp_path, monkeypatch):
    job = tiny_job(tmp_path, tiny_config(training__samples=24, **CONV, training__batch_splits=4))
    monkeypatch.setattr("gonn_core.trial.session.TICK_SECONDS", 0.0)
    assert run_trial(job, lambda event: getattr(event, "step", None) != 0.5) == {
        "state": "paused",
        "id": job.id,
        "samples": 8,
    }
