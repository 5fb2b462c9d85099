"""Tables of made-up studies: what stands in the cells, and from which trials."""

import csv
import io
import json

import pytest

from reports.results.decisions import load_results
from reports.results.group import MAIN, Groups
from reports.results.page import judge_page
from reports.stats.estimates import Interval
from reports.study.footnotes import warnings
from reports.study.report import make_report
from reports.study.report_tables import report_tables
from reports.study.serial import manifest, report_tree
from reports.study.tables import marks_table
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
        (formats.q_value(0.0123), "0.012"),
        (formats.q_value(0.0496), "0.0496"),
        (formats.q_value(0.0512), "0.0512"),
        (formats.q_value(0.00004), "<0.0001"),
        (formats.q_value(None), "–"),
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
    effect = pair.nats.effect("parametric_relu")
    row = texts(report_tables(pair).table("effects"), "parametric_relu")
    assert effect.delta == pytest.approx(-0.03, abs=0.01) and pair.verdicts == {"parametric_relu": "helps"}
    assert row["delta"] == formats.signed(effect.delta) and row["interval"] == formats.interval(effect.interval95)
    assert row["parts"] == f"{effect.se_seed:.4f}, {effect.se_eval:.4f}"
    assert row["verdict"] == f"helps (q {formats.q_value(effect.q)})" and row["q"] == formats.q_value(effect.q)
    assert (row["runs"], row["own"]) == ("4 and 4", "8") and "at_base" not in {
        column.key for column in report_tables(pair).table("effects").columns
    }
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


def test_notes_name_runs_noise_q_data_and_looks(pair):
    notes = "\n".join(pair.notes)
    assert "Data: kgs, 4 of 15 training years. Evaluated on: test, 1,958 positions of 40 games, full history." in notes
    assert (
        "Effects are estimated from 8 runs of gonn-b5 under these conditions, all of this study, as differences of"
        in notes
    )
    assert f"Standard deviation of a run {pair.nats.noise.run:.4f} test nats on 3 degrees of freedom." in notes
    assert "over the 1 effect of this table" in notes and "(q at most 5 %), at most one in 20" in notes
    assert "Looks at the test results: 0." in notes and "measured on cpu." in notes


def test_sentence_says_it_all(pair):
    (sentence,) = pair.sentences
    effect = pair.analyses[MAIN, "nats"].effect("parametric_relu")
    found = f"{formats.signed(effect.delta)} test nats {formats.interval(effect.interval95)}"
    assert (
        sentence
        == f"parametric_relu: Δ {found}, helps (q {formats.q_value(effect.q)}) (4 seeds, 1,958 positions of 40 games)"
    )


def test_an_unfinished_study_uses_all_its_runs_and_says_so(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "ladder_input")
    skip = [("control", 2), ("without-parametric_relu", 4)]
    train(made, {}, skip=[*skip, *(("without-ladder_input", seed) for seed in (1, 2, 3, 4))])
    report = reported(made)
    assert report.nats.effect("parametric_relu").runs == (3, 3)
    assert texts(report_tables(report).table("arms"), "control")["seeds"] == "1, 3, 4 (3 of 4)"
    assert texts(report_tables(report).table("effects"), "parametric_relu")["runs"] == "3 and 3"
    assert report.verdicts == {"parametric_relu": "unfinished"}
    missing = texts(report_tables(report).table("effects"), "ladder_input")
    assert missing["verdict"] == "no result yet: no finished run without it" and missing["delta"] == "–"
    assert report.sentences[1] == "ladder_input: no result yet (no finished run without it)"
    assert "Not estimated: ladder_input (no finished run without it)." in report.notes
    assert report.notes[0].startswith("Unfinished: 6 of 12 trials are done and evaluated")


@pytest.mark.parametrize("skip, values", [([], {"results": False}), ([("without-last_move_input", 4)], {})])
def test_what_is_no_result_or_unfinished_is_not_judged(tmp_path, skip, values):
    """A large effect on enough seeds has a number, but no p, no verdict on it and none on any claim."""
    made = plan_study(tmp_path, "last_move_input", "parametric_relu", **values)
    train(made, {"without-last_move_input": 0.4}, skip)
    report, word = reported(made), "unfinished" if skip else "not a result"
    assert report.verdicts == {"last_move_input": word, "parametric_relu": word}
    row = texts(report_tables(report).table("effects"), "last_move_input")
    assert (row["q"], row["verdict"]) == ("–", word) and row["delta"].startswith(("−0.39", "−0.40"))
    assert {each.verdict for each in report.findings} <= {
        "not tested here", "compared only", "not measured yet", "count agrees", "count differs"
    }  # fmt: skip
    assert warnings(report.results)[0].lower().startswith(word) and word in report.sentences[0]
    page = judge_page([report, _finished(tmp_path / "other")])
    shown = [each.verdict for row in page if row.report is report for each in row.effects.values()]
    assert set(map(str, shown)) == {word}


def _finished(folder):
    made = plan_study(folder, "ko_plane")
    train(made, {})
    return reported(made)


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
    table = report_tables(report).table("effects")
    assert len(table.rows[0].cells["delta"].trials) == 16 and "at_base" in {column.key for column in table.columns}
    at_base = report.nats.at_base["parametric_relu"]
    assert table.rows[0].cells["at_base"].value == [
        at_base.delta, at_base.interval95.low, at_base.interval95.high
    ]  # fmt: skip
    assert "mean effect over the other enhancements" in table.notes[0]


@pytest.mark.parametrize(
    ("design", "marks"),
    [
        ("leave-one-out", ["✓✓✓", "✗✓✓", "✓✗✓", "✓✓✗"]),
        ("cumulative", ["✗✗✗", "✓✗✗", "✓✓✗", "✓✓✓"]),
        ("factorial", ["✗✗✗", "✗✗✓", "✗✓✗", "✗✓✓", "✓✗✗", "✓✗✓", "✓✓✗", "✓✓✓"]),
    ],
)
def test_marks_show_which_enhancements_an_arm_has(tmp_path, design, marks):
    cards = "parametric_relu", "global_pooling_head", "stem_kernel_5x5"
    made = plan_study(tmp_path, *cards, seeds=(1,), design=design)
    table = marks_table(load_results(made.study, made.runs, made.study_folder))
    assert ["".join(row.cells[card].text for card in cards) for row in table.rows] == marks


def test_runs_of_other_studies_count_and_are_told_apart(tmp_path):
    """A study's effects use the control of another one, and its manifest names every run."""
    one, other = (plan_study(tmp_path / card, card) for card in ("parametric_relu", "ko_plane"))
    train(one, {"without-parametric_relu": 0.03})
    train(other, {})
    for path in other.runs.iterdir():
        if not (one.runs / path.name).exists():
            path.rename(one.runs / path.name)
    studies = (one.study, other.study)
    groups = Groups(
        [each.model_copy(update={"results": True}) for each in studies], lambda each: load_results(each, one.runs)
    )
    study = studies[0].model_copy(update={"results": True})
    report = make_report(load_results(study, one.runs), one.registry, groups.of(study))
    assert report.nats.runs == (12, 8)
    notes = "\n".join(report.notes)
    assert "from 12 runs of gonn-b5 under these conditions, 8 of them of this study" in notes
    tree = manifest(report, report_tables(report))
    assert {study: len(trials) for study, trials in tree["group"].items()} == {studies[0].id: 8, studies[1].id: 4}
    (row,) = report_tree(report, report_tables(report))["analyses"][0]["effects"].values()
    assert row["q"] == report.nats.effect("parametric_relu").q and row["verdict"] == "helps"


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


def test_an_interval_without_0_beside_a_large_q_leans(unshown):
    effect = unshown.nats.effect("ko_plane")
    assert effect.interval95.high < 0 and effect.p < 0.05 < effect.q  # what the fixture is made for
    text = f"leans to helping (q {formats.q_value(effect.q)})"
    assert texts(report_tables(unshown).table("effects"), "ko_plane")["verdict"] == text
    assert text in unshown.sentences[2]


def test_every_table_of_effects_has_q(unshown):
    for name, metrics in (("rates", ("top1", "top4")), ("effects-test-as-published", ("nats", "top1", "top4"))):
        number = MAIN if name == "rates" else 1
        row = next(row for row in report_tables(unshown).table(name).rows if row.key == "ko_plane")
        for metric in metrics:
            effect = unshown.analyses[number, metric].effect("ko_plane")
            assert row.cells[f"{metric}_q"].value == effect.q is not None
