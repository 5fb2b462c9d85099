"""What progress lines say of accuracy and loss in training."""

import json

import numpy as np
import pytest

from gonn_core.trial.directory import TrialDirectory
from reports.results.compare import analyse_study
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
    with_it, without = (
        np.mean([trial.curve[-1]["train_nats"] for trial in results.of_arm(arm)])
        for arm in ("control", "without-parametric_relu")
    )
    assert effect.se_eval == 0 and effect.n == 4
    assert effect.delta == pytest.approx(step * (with_it - without))


def test_trials_whose_lines_lack_it_are_no_runs_of_a_metric(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", budget="cpu", seeds=(1, 2))
    train(made, {})
    for trial in made.study.trials_of("control").values():
        path = TrialDirectory(made.runs / trial).path / "metrics.jsonl"
        lines = TrialDirectory(path.parent).metrics()
        old = [{name: value for name, value in line.items() if name != "train_top1"} for line in lines]
        path.write_text("".join(json.dumps(line) + "\n" for line in old))
    results = load_results(made.study, made.runs)
    assert analyse_study(results, "train_top1").left_out == {"parametric_relu": "no finished run with it"}
    assert analyse_study(results, "train_loss").effect("parametric_relu") is not None
