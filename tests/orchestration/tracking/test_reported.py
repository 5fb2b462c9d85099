"""What MLflow shows of a report: the numbers of its tables, by names that say over which games they are."""

import csv

import numpy as np
import pytest

from orchestration.tracking.records import study_info
from orchestration.tracking.reported import plain, tracked_study
from reports.results.decisions import load_results
from reports.study.render import write_report
from tests.reports.made_studies import plan_study, train

CARDS = ("parametric_relu", "ladder_input")


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Two cards, three seeds; one trial is still to come."""
    made = plan_study(tmp_path_factory.mktemp("tracked"), *CARDS, seeds=(1, 2, 3))
    train(made, {"without-parametric_relu": 0.03}, skip=[("without-ladder_input", 2)])
    results = load_results(made.study, made.runs, made.study_folder)
    return write_report(made.study, results, made.folder / "out", made.registry)


def test_effects_are_numbers_and_verdicts_are_tags(reported):
    tracked = tracked_study(reported)
    analysis = reported.report.analyses[0, "nats"]
    for card in CARDS:
        effect = analysis.effect(card)
        expected = {"delta_test_nats": effect.delta, "q": effect.q}
        expected |= {"delta_test_nats_low": effect.interval95.low, "delta_test_nats_high": effect.interval95.high}
        expected = {name: value for name, value in expected.items() if value is not None}
        assert {name: tracked.metrics[f"{name}.{card}"] for name in expected} == expected
        arm = tracked.arms[f"without {card}"]
        assert expected.items() <= arm.metrics.items(), "one sign on all pages: with minus without"
        assert arm.tags == {"enhancement": card, "verdict": tracked.tags[f"verdict.{card}"]}
        assert arm.tags["verdict"].startswith(str(analysis.verdict(card)))
    control = tracked.arms["gonn-b5"]
    assert control.metrics.keys() == {"seeds", "test_nats", "test_top1", "test_top4"} and not control.tags
    assert [arm.metrics["seeds"] for arm in tracked.arms.values()] == [3, 3, 2]
    assert tracked.verdict == "2 unfinished"
    trials = reported.report.study.trials_of(reported.report.study.arms[1].id).values()  # all of its seeds are there
    shown = [tracked.trials[trial]["delta_test_nats"] for trial in trials]
    assert np.mean(shown) == pytest.approx(tracked.metrics[f"delta_test_nats.{CARDS[0]}"])
    info = study_info(reported.report.study)
    assert list(info.tags) == ["base", "budget", "data", "design"] and info.tags["design"] == "add-one"


def test_trials_have_the_numbers_of_the_table_and_the_difference_that_the_study_tells(reported):
    tracked, study = tracked_study(reported), reported.report.study
    control = study.trials_of(study.arms[0].id)
    table = next(path for path in reported.tables if path.name == "trials.csv")
    rows = {row["trial"]: row for row in csv.DictReader(table.open(encoding="utf-8"))}
    assert len(tracked.trials) == 8 and all("delta_test_nats" not in tracked.trials[id] for id in control.values())
    for trial in study.trials:
        if trial.arm == study.arms[0].id or trial.trial not in tracked.trials:
            continue
        own, other = tracked.trials[trial.trial], tracked.trials[control[trial.seed]]
        sign = -1 if trial.arm.startswith("without-") else 1
        assert own["delta_test_nats"] == pytest.approx(sign * (own["test_nats"] - other["test_nats"]))
        assert set(own) == {"test_nats", "test_top1", "test_top4", "delta_test_nats"}
        shown = [float(value) for name, value in rows[trial.trial].items() if name.startswith("test") and value]
        assert own["test_nats"] in [pytest.approx(value, abs=1e-4) for value in shown]


def test_the_description_is_text_that_needs_no_markdown_and_the_files_are_there(reported):
    tracked = tracked_study(reported)
    first, _, second = tracked.note.splitlines()[:3]
    assert first.startswith("Unfinished: 8 of 9") and second == reported.report.sentences[0].replace("<", r"\<")
    assert "\\_" not in tracked.note and "<br>" not in tracked.note
    assert all(path.is_file() for path in tracked.files.values())
    assert {"figures/figure.png", "tables/effects.csv", "tables/trials.csv"} <= set(tracked.files)
    page = reported.folder / "report.html"
    page.write_text("<html></html>")
    assert "report.html" in tracked_study(reported).files and "report.md" not in tracked_study(reported).files
    page.unlink()


def test_sentences_read_the_same_where_markdown_is_not_rendered():
    sentence = "last_move_input: Δ −0.3969 nats [−0.4295, −0.3644], helps (p < 0.001)"
    assert plain(sentence) == sentence.replace("<", r"\<")
    assert plain("*<b>`x`\x1b|") == r"\*\<b\>\`x\`\\x1b\|"
