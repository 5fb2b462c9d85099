"""What the prepared page of a study holds: charts, their axes, columns, colours, names."""

import json

from gonn_core.metrics import CHARTS, METRICS
from orchestration.tracking import view
from orchestration.tracking.colours import PALETTE, arm_colours
from orchestration.tracking.names import CURVES, curve_name
from orchestration.tracking.records import StudyInfo, TrackedTrial, arm_name
from orchestration.tracking.study_records import plain
from reports.figures.style import COLOURS


def state(**options) -> dict:
    text = view.view_state(**options)
    assert len(text) <= view.LONGEST_TAG
    return json.loads(text)


def test_the_view_starts_with_the_loss_over_samples_by_arm_of_all_trials():
    shown = state()
    lines = [chart for chart in shown["compareRunCharts"] if chart["type"] == "LINE"]
    assert tuple(chart["metricKey"] for chart in lines) == CURVES and CURVES[0] == "validation_nats"
    assert {chart["xAxisKey"] for chart in lines} == {"step"} and {str(chart["range"]) for chart in lines} == {"{}"}
    assert shown["groupBy"]["groupByKeys"] == [{"mode": "tag", "groupByData": "arm"}]
    assert shown["runsHiddenMode"] == "SHOW_ALL"
    assert set(shown["selectedColumns"]) == {
        "tags.`arm`",
        "tags.`seed`",
        "metrics.`test_nats`",
        "metrics.`test_top1`",
        "metrics.`delta_test_nats`",
        "params.`training.samples`",
    }
    assert state(grouped=False)["groupBy"] is None


def test_a_loss_that_was_above_a_uniform_policy_does_not_flatten_the_rest_of_its_curve():
    shown = view.ranges([{"validation_nats": 90.0, "train_nats": 4.0}, {"validation_nats": 2.5, "train_nats": 2.4}])
    assert shown["validation_nats"] == (2.16, 5.89, True) and shown["train_nats"] == (2.24, 4.16, False)
    charts = {
        chart["metricKey"]: chart["range"] for chart in state(shown=shown)["compareRunCharts"] if "range" in chart
    }
    assert charts["validation_nats"] == {"yMin": 2.16, "yMax": 5.89} and charts["validation_top1"] == {}
    assert "5.89" in state(shown=shown)["compareRunSections"][0]["name"]
    above = view.ranges([{"validation_nats": 90.0}, {"validation_nats": 8.0}])  # nothing below: all of it is shown
    assert above["validation_nats"].low < 8 and above["validation_nats"].high > 90
    assert "5.89" not in state(shown=above)["compareRunSections"][0]["name"]
    assert view.ranges([{"validation_nats": float("nan")}]) == {}


def test_arms_have_the_colours_of_the_figures_and_many_are_told_apart():
    assert PALETTE == COLOURS
    colours = arm_colours([f"arm {index}" for index in range(64)])
    assert list(colours.values())[:8] == list(COLOURS) and len(set(colours.values())) == 64
    assert json.loads(view.colours_tag(colours)) == colours
    assert view.colours_tag({"x" * view.LONGEST_TAG: "#000000"}) == "{}"


def test_numbers_say_over_which_games_they_are():
    assert [curve_name(metric) for metric in CHARTS] == list(CURVES) and "nats" not in CURVES
    assert curve_name("rank") == "detail/validation_rank" and curve_name("learning_rate") == "detail/learning_rate"
    assert curve_name("train_top1") == "detail/train_top1" and METRICS["nats"].source == "positions"


def test_names_are_told_apart_where_lists_cut_them():
    info = StudyInfo("elu-gonn-b5-cpu-kgs-1a2b3c", "ELU", (TrackedTrial("t", "-elu", 3),), {})
    assert info.name == "1a2b3c elu-gonn-b5-cpu-kgs-1a2b3c" and info.trials[0].name == "s3 -elu" and not info.grouped
    assert [arm_name(label) for label in ("gonn-b5", "with elu", "without elu")] == ["gonn-b5", "+elu", "-elu"]


def test_sentences_read_the_same_where_markdown_is_not_rendered():
    sentence = "last_move_input: Δ −0.3969 nats [−0.4295, −0.3644], helps (p < 0.001)"
    assert plain(sentence) == sentence.replace("<", r"\<")
    assert plain("*<b>`x`\x1b|") == r"\*\<b\>\`x\`\\x1b\|"
