"""Tables of made-up studies: what is in the cells, and from which trials."""

import json

import numpy as np
import pytest

from gonn_core.metrics import METRICS
from reports.results.compare import analyse_study, judge_page
from reports.results.decisions import load_results
from reports.results.group import MAIN, Groups
from reports.stats.estimates import Interval
from reports.study.render import manifest, report_tree
from reports.study.report import make_report, table_notes, warnings
from reports.study.tables import EXTRA_METRICS, marks_table, report_tables
from reports.tables import formats
from reports.tables.formats import bound_text
from tests.reports.made_studies import plan_study, train
from tests.reports.stats.checks import bootstrap_over_games

CARDS = ("parametric_relu", "ko_plane")


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


@pytest.fixture(scope="module")
def tables(pair):
    return report_tables(pair)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (formats.signed(-0.44321), "−0.4432"),
        (formats.signed(-0.00001), "0.0000"),
        (formats.signed(0.0123, "share"), "+1.23"),
        (formats.level(0.38214, "share"), "38.21 %"),
        (formats.interval(Interval(-0.4601, -0.4263)), "[−0.4601, −0.4263]"),
        (formats.p_value(0.00004), "<0.0001"),
        (formats.q_value(0.0123), "0.012"),
        (formats.q_value(0.0496), "0.0496"),
        (formats.signed_count(-188_416), "−188,416"),
        (formats.operations(2_612_000_000), "2.61 G"),
        (formats.samples(2_500_000), "2.5M"),
        (formats.samples(5_120), "5,120"),
        (formats.seeds([2, 1, 7], 3), "1, 2, 7"),
        (formats.seeds([1, 2, 3], 4), "1-3 (3 of 4)"),
        (bound_text(0.0176), "0.018 nats"),
        (bound_text(0.0181), "0.019 nats"),  # rounded up, so that it stays true
        (bound_text(0.0995), "0.10 nats"),
        (bound_text(0.0123, "top1"), "1.3 points"),
        (bound_text(12.3, "rank"), "13 places"),
    ],
)
def test_numbers_in_the_notation_of_the_reports(written, text):
    assert written == text


def test_arms_have_cost_seeds_and_means(pair, tables):
    row, cells = texts(tables.table("arms"), "control"), tables.table("arms").rows[0].cells
    trials = pair.results.evaluated("control", MAIN)
    mean = sum(trial.evaluations[MAIN].summary["nats"] for trial in trials.values()) / 4
    assert (row["arm"], row["seeds"], row["samples"], row["speed"]) == ("gonn-b5", "1-4", "5,120", "900")
    assert row["nats"] == f"{mean:.4f}" and cells["nats"].trials == tuple(trial.id for trial in trials.values())


def test_effect_is_with_minus_without_whatever_the_base_has(pair, tables):
    effect, row = pair.nats.effect("parametric_relu"), texts(tables.table("effects"), "parametric_relu")
    assert effect.delta == pytest.approx(-0.03, abs=0.01) and pair.verdicts == {"parametric_relu": "helps"}
    assert row["delta"] == formats.signed(effect.delta) and row["interval"] == formats.interval(effect.interval95)
    assert row["parts"] == f"{effect.se_seed:.4f}, {effect.se_eval:.4f}"
    assert row["verdict"] == f"helps (q {formats.q_value(effect.q)})" and row["q"] == formats.q_value(effect.q)
    assert (row["runs"], row["own"], row["speed"], row["parameters"]) == ("4 and 4", "8", "× 0.90", "+84")
    assert len(tables.table("effects").rows[0].cells["delta"].trials) == 8
    for name, number, metrics in (("rates", MAIN, ("top1", "top4")), ("effects-test-as-published", 1, ("nats",))):
        cells = tables.table(name).rows[0].cells
        for metric in metrics:
            found = pair.analyses[number, metric].effect("parametric_relu")
            ends = [found.interval95.low, found.interval95.high]
            assert cells[metric].value == [found.delta, *ends] and cells[f"{metric}_q"].value == found.q


def test_as_published_history_is_a_table_of_its_own_and_validation_only_a_file(tables):
    shown = [table.name for table in tables.printed]
    assert shown == ["arms", "effects", "rates", "claims", "arms-test-as-published", "effects-test-as-published"]
    assert [table.name for table in tables.files] == ["trials", "arms-validation-full", "effects-validation-full"]
    assert [table.name for table in tables.folded] == ["metrics", "metric-effects"]


def test_further_metrics_are_means_over_seeds_with_the_interval_that_nats_have(pair, tables):
    plain = [name for name in EXTRA_METRICS if not METRICS[name].legal_only and METRICS[name].planes == 1]
    assert [row.key for row in tables.table("metrics").rows] == plain
    cells = {row.key: row.cells["control"].value for row in tables.table("metrics").rows}
    files = [np.load(trial.evaluations[MAIN].path) for trial in pair.results.of_arm("control")]
    p = [np.exp(-file["nats"].astype(float)) for file in files]
    assert cells["p10"] == pytest.approx(np.mean([(each >= 0.10).mean() for each in p]))
    assert cells["rank"] == pytest.approx(np.mean([file["rank"].mean() + 1 for file in files]))
    assert cells["search_loss_median"] == pytest.approx(np.mean([np.median(1 / (each + 0.003)) for each in p]))
    assert cells["top1_ko"] == pytest.approx(np.mean([(file["rank"][file["ko"]] == 0).mean() for file in files]))
    effects = {row.key: row.cells["parametric_relu"].value for row in tables.table("metric-effects").rows}
    judged = analyse_study(pair.results, "rank").effect("parametric_relu")
    assert effects["rank"] == [judged.delta, judged.interval95.low, judged.interval95.high]


def test_noise_between_games_of_a_median_is_that_of_drawing_games_again(pair):
    arms = [pair.results.arm_result(arm, MAIN, "search_loss_median") for arm in ("control", "without-parametric_relu")]
    drawn = bootstrap_over_games((arms[0].sums - arms[1].sums).mean(0), arms[0].counts, 2000)
    effect = analyse_study(pair.results, "search_loss_median").effect("parametric_relu")
    assert effect.se_eval <= drawn.std() * 1.1 and effect.delta == pytest.approx(drawn.mean(), abs=drawn.std())


def test_an_unfinished_study_uses_all_its_runs_and_says_so(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "ladder_input")
    skip = [("control", 2), ("without-parametric_relu", 4)]
    train(made, {}, skip=[*skip, *(("without-ladder_input", seed) for seed in (1, 2, 3, 4))])
    report = reported(made)
    tables = report_tables(report)
    assert report.nats.effect("parametric_relu").runs == (3, 3)
    assert texts(tables.table("arms"), "control")["seeds"] == "1, 3, 4 (3 of 4)"
    assert report.verdicts == {"parametric_relu": "unfinished"}
    missing = texts(tables.table("effects"), "ladder_input")
    assert missing["verdict"].startswith("no result yet: no finished run") and missing["delta"] == "–"
    assert "6 of 12 trials" in report.notes[0] and len(warnings(report.results)) == 1


@pytest.mark.parametrize("skip, values", [([], {"results": False}), ([("without-last_move_input", 3)], {})])
def test_what_is_no_result_or_unfinished_is_not_judged(tmp_path, skip, values):
    """A large effect on enough seeds has a number, but no p, no verdict on it and none on any claim."""
    made = plan_study(tmp_path, "last_move_input", seeds=(1, 2, 3), **values)
    train(made, {"without-last_move_input": 0.4}, skip)
    report, word = reported(made), "unfinished" if skip else "not a result"
    assert report.verdicts == {"last_move_input": word}
    row = texts(report_tables(report).table("effects"), "last_move_input")
    assert (row["q"], row["verdict"]) == ("–", word) and row["delta"].startswith(("−0.39", "−0.40"))
    assert not any(each.verdict.is_judged for each in report.findings if each.claim.metric != "parameters")
    assert warnings(report.results)[0].lower().startswith(word) and word in report.sentences[0]
    assert {str(each.verdict) for row in judge_page([report]) for each in row.effects.values()} == {word}


@pytest.mark.parametrize(
    ("design", "marks", "against"),
    [
        ("add-one", None, None),
        ("leave-one-out", ["✓✓", "✗✓", "✓✗"], ["without parametric_relu", "without ko_plane"]),
        ("cumulative", ["✗✗", "✓✗", "✓✓"], ["gonn-b5 with none", "+ parametric_relu"]),
        ("factorial", ["✗✗", "✗✓", "✓✗", "✓✓"], None),
    ],
)
def test_every_design_shows_what_arms_have_and_what_differences_are_against(tmp_path, design, marks, against):
    made = plan_study(tmp_path, *CARDS, design=design, seeds=(1, 2, 3))
    table = marks_table(made.study)
    assert (table and ["".join(row.cells[card].text for card in CARDS) for row in table.rows]) == marks
    train(made, {})
    report = reported(made)
    effects = report_tables(report).table("effects")
    assert ("against" in [column.key for column in effects.columns]) == bool(against) and len(effects.notes) == 1
    for net, row, sentence in zip(against or [], effects.rows, report.sentences, strict=bool(against)):
        assert row.cells["against"].text == f"against {net}" and f"(against {net})" in sentence
    if design == "factorial":
        base = report.nats.at_base["parametric_relu"]
        assert effects.rows[0].cells["at_base"].value == [base.delta, base.interval95.low, base.interval95.high]
        assert len(effects.rows[0].cells["delta"].trials) == 12 and "mean effect" in effects.notes[0]


def test_runs_of_other_studies_count_and_the_manifest_names_every_run(tmp_path):
    one, other = (plan_study(tmp_path / card, card, seeds=(1, 2, 3), results=True) for card in CARDS)
    train(one, {"without-parametric_relu": 0.03})
    train(other, {})
    for path in other.runs.iterdir():
        if not (one.runs / path.name).exists():
            path.rename(one.runs / path.name)
    groups = Groups([one.study, other.study], lambda study: load_results(study, one.runs))
    report = make_report(load_results(one.study, one.runs), one.registry, groups.of(one.study))
    assert report.nats.runs == (9, 6)
    tree = manifest(report, report_tables(report))
    assert {study: len(trials) for study, trials in tree["group"].items()} == {one.study.id: 6, other.study.id: 3}
    (row,) = report_tree(report, report_tables(report))["analyses"][0]["effects"].values()
    assert row["q"] == report.nats.effect("parametric_relu").q and row["verdict"] == "helps"


def test_what_is_not_shown_has_its_bound_and_an_interval_without_0_beside_a_large_q_leans(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "ladder_input", "ko_plane")
    train(made, {"without-ko_plane": 0.016})
    report = reported(made)
    effect, table = report.nats.effect("ladder_input"), report_tables(report).table("effects")
    verdicts = {row.key: row.cells["verdict"] for row in table.rows}
    assert verdicts["ladder_input"].value == "not shown" and bound_text(effect.bound) in verdicts["ladder_input"].text
    leaning = report.nats.effect("ko_plane")
    assert leaning.interval95.high < 0 and leaning.p < 0.05 < leaning.q  # what the study is made for
    assert verdicts["ko_plane"].text == f"leans to helping (q {formats.q_value(leaning.q)})"
    assert verdicts["ko_plane"].text in report.sentences[2]


def test_each_arm_is_read_as_its_configuration_says_and_kinds_of_machine_are_named(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2), reading={"evaluation.legal_only": True})
    train(made, {})
    path = made.runs / made.study.trials[1].trial / "config.json"
    tree = json.loads(path.read_text())
    del tree["seal"]
    tree["sessions"][0]["processor"] = "Another processor"
    path.write_text(json.dumps(tree))
    results = load_results(made.study, made.runs)
    assert all(None not in trial.evaluations and trial.evaluations[MAIN].reading.legal_only for trial in results.trials)
    notes = "\n".join(table_notes(results, analyse_study(results, "nats")))
    assert "legal points" in notes and "2 kinds of machine" in notes and "Another processor" in notes
    for path in made.runs.glob("*/eval/*.json"):
        path.write_text(path.read_text().replace('"legal_only": true', '"legal_only": false'))
    assert load_results(made.study, made.runs).trials[0].evaluations == (None, None, None)
