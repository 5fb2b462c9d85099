"""The folded tables of further metrics: against numbers computed anew, with old evaluations, with other readings."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from gonn_core.evaluation.stored import pack_arrays
from gonn_core.files.json_files import read_json
from gonn_core.metrics import METRICS
from reports.page import markdown
from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.results.group import MAIN, own_group
from reports.study.extra_metrics import EXTRA_METRICS, extra_tables
from reports.study.footnotes import table_notes
from reports.study.page import study_page
from reports.study.render import write_report
from reports.study.report import make_report
from reports.study.report_tables import report_tables
from reports.study.serial import manifest
from reports.tables.serial import csv_text
from tests.reports.made_studies import plan_study, train
from tests.reports.stats.checks import bootstrap_over_games


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = plan_study(tmp_path_factory.mktemp("further"), "parametric_relu", seeds=(1, 2, 3))
    train(made, {"without-parametric_relu": 0.03})
    return made


@pytest.fixture(scope="module")
def results(made):
    return load_results(made.study, made.runs)


def tables_of(results):
    return extra_tables(results, own_group(results))


def arrays(results, arm):
    """Every trial's arrays of the main evaluation, read without our reader."""
    return [np.load(trial.evaluations[MAIN].path) for trial in results.of_arm(arm)]


def test_levels_are_means_over_seeds(results):
    levels, _, _ = tables_of(results)
    plain = [name for name in EXTRA_METRICS if not METRICS[name].legal_only and METRICS[name].planes == 1]
    assert [row.key for row in levels.rows] == plain and len(levels.notes) == 2
    cells = {row.key: row.cells["control"] for row in levels.rows}
    files = arrays(results, "control")
    p = [np.exp(-file["nats"].astype(float)) for file in files]
    assert cells["p10"].value == pytest.approx(np.mean([(each >= 0.10).mean() for each in p]))
    assert cells["rank"].value == pytest.approx(np.mean([file["rank"].mean() + 1 for file in files]))
    assert cells["search_loss_median"].value == pytest.approx(np.mean([np.median(1 / (each + 0.003)) for each in p]))
    assert cells["top1_ko"].value == pytest.approx(np.mean([(file["rank"][file["ko"]] == 0).mean() for file in files]))
    assert cells["entropy"].value == pytest.approx(np.mean([file["entropy"].mean() for file in files]))
    assert cells["probability"].text.endswith(" %") and len(cells["rank"].trials) == 3


def test_effects_have_the_interval_that_nats_have(results):
    """One and the same way for all metrics: what a verdict is made from for nats and rank is what the folded table
    shows."""
    _, effects, _ = tables_of(results)
    cells = {row.key: row.cells["parametric_relu"] for row in effects.rows}
    judged = analyse_study(results, "rank").effect("parametric_relu")
    assert cells["rank"].value == [judged.delta, judged.interval95.low, judged.interval95.high]
    assert cells["search_loss"].value[0] < 0 < cells["top1"].value[0]


def test_noise_between_games_of_a_median_is_that_of_drawing_games_again(results):
    arms = {arm: results.arm_result(arm, MAIN, "search_loss_median") for arm in ("control", "without-parametric_relu")}
    difference = arms["control"].sums - arms["without-parametric_relu"].sums
    drawn = bootstrap_over_games(difference.mean(0), arms["control"].counts, 2000)
    effect = analyse_study(results, "search_loss_median").effect("parametric_relu")
    assert effect.se_eval <= drawn.std() * 1.1 and effect.delta == pytest.approx(drawn.mean(), abs=drawn.std())


def test_hits_by_move_number(results):
    table = tables_of(results)[2]
    assert [row.cells["moves"].text for row in table.rows] == ["1–20", "21–40", "41–60", "61–80"]
    files = arrays(results, "control")
    assert table.rows[0].cells["positions"].value == (files[0]["ply"] < 20).sum()
    expected = np.mean([(file["rank"][(file["ply"] >= 20) & (file["ply"] < 40)] == 0).mean() for file in files])
    assert table.rows[1].cells["control"].value == pytest.approx(expected)


def test_a_report_has_them_folded(made, results):
    report = make_report(results, made.registry)
    text = markdown(study_page(report, report_tables(report), {}))
    more = text.index("## More metrics")
    assert "| p ≥ 25\u00a0% |" in text[more : text.index("## Notes")] and "with a ko" not in text[:more]
    assert text.index("Claims of the documents") < more
    files = write_report(made.study, results, made.folder / "out", made.registry)
    assert {"metrics.csv", "metric-effects.csv", "move-numbers.csv"} <= {path.name for path in files.tables}
    assert (
        csv_text(report_tables(report).table("metric-effects")).splitlines()[0]
        == "metric,parametric_relu,parametric_relu_interval95_low,parametric_relu_interval95_high"
    )


def test_names_of_arms_stay_inert(made, results):
    arms = tuple(arm.model_copy(update={"label": "<b>|x|</b>"}) for arm in made.study.arms)
    report = make_report(replace(results, study=made.study.model_copy(update={"arms": arms})), made.registry)
    assert "<b>" not in markdown(study_page(report, report_tables(report), {}))


def test_evaluations_made_before_more_was_kept(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {})
    for path in made.runs.glob("*/eval/*.npz"):
        with np.load(io.BytesIO(path.read_bytes())) as file:
            buffer = io.BytesIO()
            np.savez(buffer, **{name: file[name] for name in ("nats", "rank", "rows", "games")})
        path.write_bytes(buffer.getvalue())
    results = load_results(made.study, made.runs)
    levels, effects = tables_of(results)  # no move numbers
    assert set(EXTRA_METRICS) - {row.key for row in levels.rows} == {
        "top1_ko",
        "entropy",
        "squared_error",
        "illegal_probability",
        *(name for name in EXTRA_METRICS if METRICS[name].planes > 1),
    }
    assert "illegal points" not in "".join(levels.notes)  # these policies are read over all points
    assert levels.notes[-1] == "Not kept by these evaluations: top-1 where a ko is, policy entropy, squared error."
    assert [row.key for row in effects.rows] == [row.key for row in levels.rows]
    trial = results.trials[0]  # one of them evaluated anew: its arm has the metric in all seeds or in none
    old = trial.evaluations[MAIN]
    scores = old.scores._replace(entropy=old.scores.nats, squared_error=old.scores.nats)
    old.path.write_bytes(pack_arrays(scores, old.rows, old.games))
    assert tables_of(load_results(made.study, made.runs))[0].notes == levels.notes


def test_nothing_before_the_first_evaluation(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    assert tables_of(load_results(made.study, made.runs)) == ()


def test_each_arm_is_read_as_its_configuration_says(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2), reading={"evaluation.legal_only": True})
    train(made, {})
    results = load_results(made.study, made.runs)
    assert all(None not in trial.evaluations and trial.evaluations[MAIN].reading.legal_only for trial in results.trials)
    notes = table_notes(results, analyse_study(results, "nats"))
    assert (
        "Policies are evaluated over legal points alone (empty ones but the ko point): in all arms. Curves are of "
        "policies as they are." in notes
    )
    plain = plan_study(tmp_path / "plain", "parametric_relu", seeds=(1, 2))
    train(plain, {})
    for trial in plain.study.trials:
        for path in (plain.runs / trial.trial / "eval").glob("*.json"):
            path.write_text(path.read_text().replace('"legal_only": false', '"legal_only": true'))
    assert load_results(plain.study, plain.runs).trials[0].evaluations == (None, None, None)


def test_the_manifest_says_whose_weights_were_taken_over(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {})
    trial = made.study.trials[0].trial
    path = made.runs / trial / "result.json"
    path.write_text(json.dumps(read_json(path) | {"trained_as": "f" * 16}))
    report = make_report(load_results(made.study, made.runs), made.registry)
    trials = manifest(report, report_tables(report))["trials"]
    assert [found.get("trained_as") for found in trials.values()] == ["f" * 16, None, None, None]
