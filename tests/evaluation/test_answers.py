"""What one history mode has answered already is not computed again under another."""

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig, TrialConfig, with_values
from gonn_core.evaluation.evaluate import evaluate, evaluate_history, history_kept, shown_in_full
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.nets import trial_net
from gonn_core.records.views import subset
from gonn_core.training.batches import PlaneMaker
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import snapshot_net
from tests.training.options import CPU
from tests.trial.helpers import starter_data, tiny_config, tiny_job

NET = {"net.trunk.width": 8, "net.trunk.blocks": 1}


def plane_maker(features=None):
    return PlaneMaker(starter_data().store, features or FeatureConfig(), CPU, torch.channels_last)


@pytest.fixture(scope="module")
def rows():
    return subset(starter_data().views["validation"], 300, 0).rows


def net_of(features):
    torch.manual_seed(0)
    return trial_net(with_values(TrialConfig(features=features), NET)).to(memory_format=torch.channels_last)


class Counting:
    """A maker that counts the positions whose planes it made."""

    def __init__(self, maker):
        self._maker, self.made = maker, 0

    def on_host(self, rows, symmetries, keep):
        self.made += len(rows)
        return self._maker.on_host(rows, symmetries, keep)

    def on_device(self, batch):
        return self._maker.on_device(batch)


@pytest.mark.parametrize(
    "features",
    [
        FeatureConfig(),
        FeatureConfig(history=2),
        FeatureConfig(history=0, past_boards=3, past_boards_dropped="copy"),
        FeatureConfig(history=0),
        FeatureConfig(set="go_nn", history=4, liberties_after=0, ladders=False),
        FeatureConfig(set="clark", history=1, liberties=3, liberties_after=0, ladders=False, ones=False),
    ],
    ids=lambda features: f"{features.set}-{features.history}-{features.past_boards}",
)
def test_positions_that_are_alike_have_the_same_planes(features, rows):
    maker, mode = plane_maker(features), "as_published"
    alike = shown_in_full(features, rows, mode)
    assert 0.7 < alike.mean() <= 1 and shown_in_full(features, rows, "full").all()
    assert shown_in_full(features, rows, "none").all() == (features.history + features.past_boards == 0)
    upright, some = np.zeros(len(rows), np.uint8), np.asarray(rows, np.int64)
    full, hidden = (maker.on_host(some, upright, history_kept(rows, shown)).planes for shown in ("full", mode))
    same = (full == hidden).flatten(1).all(1).numpy()
    assert same[alike].all() and same[~alike].sum() <= 0.5 * (~alike).sum()


def test_only_the_others_are_computed_in_any_order(rows):
    features, maker = FeatureConfig(), Counting(plane_maker())
    net, mode = net_of(features), "as_published"
    alike = shown_in_full(features, rows, mode)

    def scores_of(some, history):
        return evaluate(net, maker, some, history)

    full = evaluate_history(scores_of, features, rows, "full")
    assert maker.made == len(rows)
    after = evaluate_history(scores_of, features, rows, mode, full)
    assert maker.made == len(rows) + (~alike).sum()
    alone = evaluate_history(scores_of, features, rows, mode)
    plain = evaluate(net, maker, rows, mode)
    for one, other, third in zip(after, alone, plain, strict=True):
        assert (one is None and other is None) or (np.array_equal(one, other) and np.allclose(one, third, rtol=1e-5))
    assert not np.array_equal(after.nats[~alike], full.nats[~alike])


def test_a_net_without_history_is_not_evaluated_twice(rows):
    features = FeatureConfig(history=0)
    full = evaluate(net_of(features), plane_maker(features), rows, "full")
    assert evaluate_history(None, features, rows, "none", full) is full


def test_a_trial_looks_in_its_own_precision_and_is_evaluated_in_fp32(tmp_path):
    config = tiny_config(training__samples=32, training__precision="bf16")
    job = tiny_job(tmp_path, config, progress_points=1)
    (first,) = job.run.evaluations
    published = first.model_copy(update={"history": "as_published"})
    job = job.model_copy(update={"run": job.run.model_copy(update={"evaluations": (published, first)})})
    result = run_trial(job)
    assert [summary["history"] for summary in result["evaluations"]] == ["as_published", "full"]
    assert all(summary["cpu_seconds"] > 0 and summary["device"] == "cpu" for summary in result["evaluations"])
    stored = {evaluation.summary["history"]: evaluation for evaluation in load_evaluations(tmp_path / job.id)}
    alike = shown_in_full(config.features, stored["full"].rows.astype(np.int64), "as_published")
    assert np.array_equal(stored["full"].scores.nats[alike], stored["as_published"].scores.nats[alike])
    net, _ = snapshot_net(TrialDirectory(tmp_path / job.id), config, job.id, 32)
    net.to(memory_format=torch.channels_last)
    looked_at = subset(starter_data().views["validation"], job.run.progress_positions, 0).rows
    looks = {each: evaluate(net, plane_maker(), looked_at, "full", precision=each).means() for each in ("fp32", "bf16")}
    assert looks["fp32"] != looks["bf16"] and looks["bf16"]["nats"] == result["nats"]
    evaluated = evaluate(net, plane_maker(), stored["full"].rows, "full")
    assert np.array_equal(evaluated.nats, stored["full"].scores.nats)
