"""What progress lines say of accuracy and loss in training, also those from before they were told."""

import json

import pytest

from gonn_core.trial.directory import TrialDirectory
from reports.results.compare import analyse_study, last_of_curve
from reports.results.curves import curve_value
from reports.results.decisions import load_results
from tests.reports.made_studies import plan_study, train


def test_the_minimised_loss_is_the_cross_entropy_unless_a_line_says_otherwise():
    assert curve_value({"train_nats": 2.5}, "train_loss") == 2.5
    assert curve_value({"train_nats": 2.5, "train_loss": 0.7}, "train_loss") == 0.7
    assert curve_value({"train_nats": 2.5}, "train_top1") is None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = plan_study(tmp_path_factory.mktemp("curves"), "parametric_relu", budget="cpu", seeds=(1, 2, 3, 4))
    train(made, {"without-parametric_relu": 0.3})
    return made


@pytest.mark.parametrize("metric, step", [("train_top1", -0.1), ("train_loss", 1.0)])
def test_effects_on_training_are_of_the_last_lines(made, metric, step):
    results = load_results(made.study, made.runs)
    effect = analyse_study(results, metric).effect("parametric_relu")
    nats = {arm.id: last_of_curve(results, arm.id, "train_nats").means.mean() for arm in results.study.arms}
    assert effect.se_eval == 0 and effect.n == 4
    assert effect.delta == pytest.approx(step * (nats["control"] - nats["without-parametric_relu"]))


def test_trials_from_before_the_accuracy_was_kept_have_none(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", budget="cpu", seeds=(1, 2))
    train(made, {})
    for trial in made.study.trials_of("control").values():
        path = TrialDirectory(made.runs / trial).path / "metrics.jsonl"
        lines = TrialDirectory(path.parent).metrics()
        old = [{name: value for name, value in line.items() if name != "train_top1"} for line in lines]
        path.write_text("".join(json.dumps(line) + "\n" for line in old))
    results = load_results(made.study, made.runs)
    assert last_of_curve(results, "control", "train_top1") is None
    analysis = analyse_study(results, "train_top1")
    assert analysis.left_out == {"parametric_relu": "no finished trial of control with training top-1"}
    assert analyse_study(results, "train_loss").effect("parametric_relu") is not None
