"""Tables of made-up studies: what stands in the cells, and from which trials."""

import csv
import io
import json

import numpy as np
import pytest

from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.results.group import MAIN
from reports.results.page_family import judge_page
from reports.stats.estimates import Interval
from reports.study.footnotes import warnings
from reports.study.render import write_report
from reports.study.report import make_report
from reports.study.report_tables import report_tables
from reports.tables import formats
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text
from reports.tables.verdicts import bound_text
from tests.reports.made_studies import plan_study, train


def reported(made):
    return make_report(load_results(made.study, made.runs, made.study_folder), made.registry)


def texts(table, row):
    """Column -> text of one row."""
    return {key: cell.text for key, cell in next(each for each in table.rows if each.key == row).cells.items()}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """PReLU on gonn-b5, which has it: 0.03 nats better with it, 4 seeds; speeds measured."""
    made = plan_study(tmp_path_factory.mktemp("pair"), "parametric_relu")
    train(made, {"without-parametric_relu": 0.03})
    speeds = {
        "control": {"samples_per_s": 900, "device": "cpu"},
        "without-parametric_relu": {"samples_per_s": 1000, "device": "cpu"},
    }
    (made.study_folder / "speed.json").write_text(json.dumps(speeds))
    return reported(made)


# Formats


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (formats.signed(-0.44321), "−0.4432"),
        (formats.signed(0.01), "+0.0100"),
        (formats.signed(-0.00001), "0.0000"),
        (formats.signed(0.0123, "share"), "+1.23"),
        (formats.level(0.38214, "share"), "38.21 %"),
        (formats.interval(Interval(-0.4601, -0.4263)), "[−0.4601, −0.4263]"),
        (formats.interval(None), "–"),
        (formats.p_value(0.00004), "<0.0001"),
        (formats.p_value(0.0123), "0.0123"),
        (formats.count(3_597_792), "3,597,792"),
        (formats.signed_count(-188_416), "−188,416"),
        (formats.signed_count(0), "0"),
        (formats.operations(2_612_000_000), "2.61 G"),
        (formats.ratio(0.974), "× 0.97"),
        (formats.samples(2_500_000), "2.5M"),
        (formats.samples(5_120), "5,120"),
        (formats.samples(100_000), "100k"),
        (formats.seeds([1, 2, 3, 4], 4), "1-4"),
        (formats.seeds([2, 1, 7], 3), "1, 2, 7"),
        (formats.seeds([1, 2, 3], 4), "1-3 (3 of 4)"),
        (formats.seeds([], 4), "– (0 of 4)"),
    ],
)
def test_numbers_in_the_notation_of_the_reports(found, text):
    assert found == text


# Tables


def test_arms_with_cost_seeds_and_means(pair):
    row = texts(report_tables(pair).table("arms"), "control")
    trials = pair.results.evaluated("control", MAIN)
    mean = sum(trial.evaluations[MAIN].summary["nats"] for trial in trials.values()) / 4
    assert (row["arm"], row["seeds"], row["samples"], row["speed"]) == ("gonn-b5", "1-4", "5,120", "900")
    assert row["nats"] == f"{mean:.4f}" and row["top1"].endswith(" %")
    assert report_tables(pair).table("arms").rows[0].cells["nats"].trials == tuple(
        trial.id for trial in trials.values()
    )


def test_parameters_are_those_of_the_net(pair):
    from gonn_core.features.sets import plane_names
    from gonn_core.nets import build_net

    config = pair.study.arm("control").config
    net = build_net(config.net, plane_names(config.features), 0)
    assert report_tables(pair).table("arms").rows[0].cells["parameters"].value == sum(
        values.numel() for values in net.parameters()
    )


def test_effect_is_with_minus_without_whatever_the_base_has(pair):
    table = pair.analyses[MAIN, "nats"].table
    effect = table.effects["parametric_relu"]
    row = texts(report_tables(pair).table("effects"), "parametric_relu")
    assert effect.delta == pytest.approx(-0.03, abs=0.01) and pair.verdicts == {"parametric_relu": "helps"}
    assert row["delta"] == formats.signed(effect.delta) and row["interval"] == formats.interval(effect.interval95)
    assert row["parts"] == f"{effect.se_seed:.4f}, {effect.se_eval:.4f}" and row["verdict"] == "helps"
    assert row["speed"] == "× 0.90" and row["parameters"] == "+84"
    assert len(report_tables(pair).table("effects").rows[0].cells["delta"].trials) == 8


def test_hit_rates_have_intervals_too(pair):
    row = texts(report_tables(pair).table("rates"), "parametric_relu")
    assert row["top1"].startswith("+") and row["top1"].count("[") == 1 and row["top4"].count(",") == 1


def test_as_published_history_is_a_table_of_its_own_and_validation_only_a_file(pair):
    shown = [table.name for table in report_tables(pair).printed]
    assert shown == ["arms", "effects", "rates", "claims", "arms-test-as-published", "effects-test-as-published"]
    assert [table.name for table in report_tables(pair).files] == [
        "trials",
        "arms-validation-full",
        "effects-validation-full",
    ]
    full, dropped = (
        float(texts(report_tables(pair).table(name), "control")["nats"]) for name in ("arms", "arms-test-as-published")
    )
    assert dropped > full


def test_notes_name_data_evaluation_correlation_and_looks(pair):
    notes = "\n".join(pair.notes)
    assert "Data: kgs, 4 of 15 training years. Evaluated on: test, 1,958 positions of 40 games, full history." in notes
    assert "correlation within pairs" in notes and "pooled over parametric_relu" in notes
    assert "Looks at the test results: 0." in notes and "measured on cpu." in notes


def test_sentence_says_it_all(pair):
    (sentence,) = pair.sentences
    effect = pair.analyses[MAIN, "nats"].effect("parametric_relu")
    found = f"{formats.signed(effect.delta)} test nats {formats.interval(effect.interval95)}"
    assert sentence == f"parametric_relu: Δ {found}, helps (4 seeds, 1,958 positions of 40 games)"


def test_unfinished_pairs_use_common_seeds_and_say_so(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "ladder_input")
    train(
        made,
        {},
        skip=[
            ("control", 2),
            ("without-parametric_relu", 4),
            *(("without-ladder_input", seed) for seed in (1, 2, 3, 4)),
        ],
    )
    report = reported(made)
    assert report.analyses[MAIN, "nats"].effect("parametric_relu").seeds == (1, 3)
    assert texts(report_tables(report).table("arms"), "control")["seeds"] == "1, 3, 4 (3 of 4)"
    assert texts(report_tables(report).table("effects"), "parametric_relu")["seeds"] == "1, 3 (2 of 4)"
    assert report.verdicts == {"parametric_relu": "unfinished"}
    missing = texts(report_tables(report).table("effects"), "ladder_input")
    assert missing["verdict"] == "no result yet: no finished trial of without-ladder_input" and missing["delta"] == "–"
    assert report.sentences[1] == "ladder_input: no result yet (no finished trial of without-ladder_input)"
    assert report.notes[0].startswith("Unfinished: 6 of 12 trials are done and evaluated")


@pytest.mark.parametrize("skip, values", [([], {"results": False}), ([("without-last_move_input", 4)], {})])
def test_what_is_no_result_or_unfinished_is_not_judged(tmp_path, skip, values):
    """A large effect on enough seeds has a number, but no p, no verdict on it and none on any claim."""
    made = plan_study(tmp_path, "last_move_input", "parametric_relu", **values)
    train(made, {"without-last_move_input": 0.4}, skip)
    report, word = reported(made), "unfinished" if skip else "not a result"
    assert report.verdicts == {"last_move_input": word, "parametric_relu": word}
    row = texts(report_tables(report).table("effects"), "last_move_input")
    assert (row["p"], row["verdict"]) == ("–", word) and row["delta"].startswith(("−0.39", "−0.40"))
    assert {each.verdict for each in report.findings} <= {
        "not tested here", "compared only", "not measured yet", "count agrees", "count differs"
    }  # fmt: skip
    assert warnings(report.results)[0].lower().startswith(word) and word in report.sentences[0]
    page = judge_page([(report.study, report.analyses), _finished(tmp_path / "other")])
    assert {str(each.verdict) for key, each in page.items() if key.study == report.study.id} == {word}


def _finished(folder):
    made = plan_study(folder, "ko_plane")
    train(made, {})
    return made.study, reported(made).analyses


@pytest.mark.parametrize("seeds, told", [((1, 2), "cannot be told from so few seeds"), ((1, 2, 3), "over seeds (0:")])
def test_a_correlation_of_two_seeds_is_none(tmp_path, seeds, told):
    made = plan_study(tmp_path, "parametric_relu", seeds=seeds)
    train(made, {})
    (note,) = [note for note in reported(made).notes if "correlation within pairs" in note]
    assert told in note


def test_pairs_without_a_common_seed_are_not_compared(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {}, skip=[("control", 1), ("without-parametric_relu", 2)])
    analysis = analyse_study(load_results(made.study, made.runs), "nats")
    assert analysis.table is None and "no seed is finished in all of" in analysis.left_out["parametric_relu"]


def test_factorial_effect_is_a_mean_over_the_other_enhancements(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "last_move_input", design="factorial")
    train(
        made,
        {"with-parametric_relu": -0.02, "with-last_move_input": -0.1, "with-parametric_relu+last_move_input": -0.16},
    )
    report = reported(made)
    arms = {
        arm.id: report_tables(report).table("arms").rows[index].cells["nats"].value
        for index, arm in enumerate(made.study.arms)
    }
    delta = report.analyses[MAIN, "nats"].effect("parametric_relu").delta
    alone = arms["with-parametric_relu"] - arms["control"]
    beside = arms["with-parametric_relu+last_move_input"] - arms["with-last_move_input"]
    want = (alone + beside) / 2
    assert delta == pytest.approx(want) and delta == pytest.approx(-0.04, abs=0.01)
    assert len(report_tables(report).table("effects").rows[0].cells["delta"].trials) == 16


def test_a_noisy_arm_keeps_most_of_its_noise(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "ladder_input", "ko_plane")
    train(made, {}, scale={"without-ko_plane": 80.0})
    effects = reported(made).analyses[MAIN, "nats"].table.effects
    own = np.std(effects["ko_plane"].deltas, ddof=1) / 2
    assert own * np.sqrt(0.6) <= effects["ko_plane"].se_seed <= own  # 3 of 5 degrees of freedom
    assert effects["ko_plane"].se_seed > effects["ladder_input"].se_seed


def test_cards_without_pairing_are_compared_without_pairs(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", pairing="none")
    train(made, {"without-parametric_relu": 0.05}, skip=[("control", 1)])
    report = reported(made)
    effect = report.analyses[MAIN, "nats"].effect("parametric_relu")
    assert not effect.paired and effect.deltas == () and effect.n == 3
    assert (
        len(report_tables(report).table("effects").rows[0].cells["delta"].trials) == 7
    )  # all seeds, not only the common ones
    assert any(note.startswith("The arms are not paired") for note in report.notes)


def test_claims_set_the_margin_of_no_effect(pair):
    table = pair.analyses[MAIN, "nats"].table
    smallest = min(0.025, 0.0125)  # of its claims: −0.025, and −0.015 to −0.01
    assert table.margins["parametric_relu"] == pytest.approx(smallest / 4)


# What is not shown


@pytest.mark.parametrize(
    ("bound", "metric", "text"),
    [
        (0.0176, "nats", "0.018 nats"),
        (0.0181, "nats", "0.019 nats"),
        (0.0180, "nats", "0.018 nats"),
        (0.00234, "nats", "0.0024 nats"),
        (0.4521, "nats", "0.46 nats"),
        (1.23, "nats", "1.3 nats"),
        (0.0123, "top1", "1.3 points"),
        (0.0995, "nats", "0.10 nats"),
        (12.3, "rank", "13 places"),
        (0.0, "nats", "0 nats"),
    ],
)
def test_bounds_have_two_digits_and_are_rounded_up(bound, metric, text):
    assert bound_text(bound, metric) == text


@pytest.fixture(scope="module")
def unshown(tmp_path_factory):
    """Three cards without an effect, one of them with an interval that leaves 0 out by chance."""
    cards = ("parametric_relu", "ladder_input", "ko_plane")
    made = plan_study(tmp_path_factory.mktemp("unshown"), *cards)
    train(made, {"without-ko_plane": 0.016})
    return reported(made)


def test_an_effect_that_is_not_shown_has_its_bound_everywhere(unshown):
    effect = unshown.analyses[MAIN, "nats"].effect("ladder_input")
    text = f"not shown: smaller than {bound_text(effect.bound)} (90 %)"
    table = report_tables(unshown).table("effects")
    row = next(row for row in table.rows if row.key == "ladder_input")
    assert (row.cells["verdict"].text, row.cells["verdict"].value) == (text, "not shown")
    assert row.cells["bound"].value == effect.bound > abs(effect.delta)
    assert any(sentence.startswith("ladder_input: ") and text in sentence for sentence in unshown.sentences)
    read = list(csv.DictReader(io.StringIO(csv_text(table))))[1]
    assert (read["verdict"], float(read["bound"])) == ("not shown", pytest.approx(effect.bound, rel=1e-5))
    assert "smaller than" in markdown_table(table) and "bound" not in markdown_table(table)


def test_an_interval_without_0_beside_not_shown_has_its_reason(unshown):
    effect = unshown.analyses[MAIN, "nats"].effect("ko_plane")
    assert effect.interval95.high < 0 and effect.p < 0.05 < effect.p_adjusted  # what the fixture is made for
    _, note = report_tables(unshown).table("effects").notes
    both = f"ko_plane (p {formats.p_value(effect.p)}, adjusted {formats.p_value(effect.p_adjusted)})"
    assert both in note and "one among 3" in note and "parametric_relu" not in note
    assert f"(90 %), p {formats.p_value(effect.p_adjusted)} among 3" in unshown.sentences[2]


def test_every_table_of_effects_has_adjusted_p(unshown):
    for name, metrics in (("rates", ("top1", "top4")), ("effects-test-as-published", ("nats", "top1", "top4"))):
        number = MAIN if name == "rates" else 1
        row = next(row for row in report_tables(unshown).table(name).rows if row.key == "ko_plane")
        for metric in metrics:
            effect = unshown.analyses[number, metric].effect("ko_plane")
            assert row.cells[f"{metric}_p"].value == effect.p_adjusted is not None


def test_a_study_of_version_0_1_says_that_it_is_judged_by_todays_rules(tmp_path, unshown):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2, 3))
    old = {name: value for name, value in made.study.thresholds.items() if name != "noise_weight"}
    old |= {"outlier_ratio": 10.0, "outlier_level": 0.01}
    study = made.study.model_copy(update={"thresholds": old})
    train(made, {})
    files = write_report(study, load_results(study, made.runs), tmp_path / "out", made.registry)
    (note,) = [note for note in files.report.notes if "version 0.1" in note]
    assert "noise_weight is new (2" in note and "outlier_ratio and outlier_level" in note
    assert "with at most 2," in files.markdown.read_text()
    assert not any("version 0.1" in note for note in unshown.notes)
