"""The page on losses and effects over samples, the worth in each study's table, and a base alone: made-up studies at
four numbers of samples, an effect that grows with them."""

from dataclasses import replace

import pytest
from rich.console import Console

from orchestration.study.report import Reporter, report_samples
from reports import frames
from reports.results.nets import arm_cost
from reports.workspace import Workspace
from tests.reports.made_studies import plan_study, registry, train

LEVELS = {2_560: 0.60, 5_120: 0.40, 10_240: 0.25, 20_480: 0.15}
"""Samples -> loss of the base above that of the made-up trials. Without the card it is more by ..."""
GAINS = {2_560: 0.02, 5_120: 0.06, 10_240: 0.10, 20_480: 0.15}


def at(samples: int):
    """The declarations, with a smoke budget of so many samples."""
    declared = registry()
    smoke = declared.budget("smoke").model_copy(update={"samples": samples})
    return replace(declared, budgets={**declared.budgets, "smoke": smoke})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Workspace, studies by samples; at the most of them the base alone."""
    folder, studies = tmp_path_factory.mktemp("samples"), {}
    for samples, level in LEVELS.items():
        study = plan_study(folder, "parametric_relu", seeds=(1, 2, 3), cards_of=at(samples))
        train(study, {"control": level, "without-parametric_relu": level + GAINS[samples]})
        studies[samples] = study.study
    return Workspace(folder), studies


def test_the_page(made, capsys):
    workspace, studies = made
    report_samples(workspace, list(studies.values()), Console(width=120))
    shown, text = capsys.readouterr().out, (workspace.out / "samples" / "samples.md").read_text()
    assert "growing" in shown and "| parametric_relu<br>gonn-b5 (smoke, kgs) | growing |" in text
    assert "## Loss over samples: gonn-b5 (smoke, kgs)" in text
    files = {path.name for path in (workspace.out / "samples").iterdir()}
    assert files >= {"curve-1.csv", "curve-1.png", "curve-1.svg", "effects.csv", "trends.csv"}
    rows = (workspace.out / "samples" / "curve-1.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == [str(samples) for samples in LEVELS]


def test_the_worth_is_in_the_table_of_effects(made):
    workspace, studies = made
    reporter = Reporter(workspace)
    report = reporter.report(studies[10_240], "report", look=False).files.report
    # Without it at 10,240 samples the loss is 0.35 above: as the base between 5,120 and 10,240, 1/3 of the way back.
    worth = report.worths["parametric_relu"].samples
    assert worth.low < 2 ** (2 / 3) < worth.high and worth.value == pytest.approx(2 ** (2 / 3), rel=0.1)
    (contrast,) = studies[10_240].contrasts
    on, off = (arm_cost(report.results, arm).flops for (arm,) in (contrast.with_it, contrast.without))
    assert off < on and report.worths["parametric_relu"].operations == worth.scaled(off / on)  # slopes are trained too
    assert report.worths["parametric_relu"].time is None  # no speeds were measured
    page = (workspace.out / studies[10_240].id / "report.md").read_text()
    assert "worth: samples" in page and "Worth: by what factor" in page
    effects = frames.effects(workspace=workspace.root, study=studies[10_240].id)
    main = effects[(effects.metric == "nats") & effects.main]
    assert main.worth.item() == pytest.approx(worth.value) and main.worth_high.item() == pytest.approx(worth.high)


def test_a_base_alone_has_a_report(tmp_path):
    made = plan_study(tmp_path, seeds=(1, 2))
    train(made, {})
    reported = Reporter(Workspace(tmp_path)).report(made.study, "report", look=False)
    (sentence,) = reported.files.report.sentences
    assert sentence.startswith("gonn-b5: 2.") and "nats (sd of seeds 0." in sentence and "(2 seeds, " in sentence
    page = reported.files.markdown.read_text()
    assert "## Arms" in page and "## Effects" not in page and "## Claims" not in page
