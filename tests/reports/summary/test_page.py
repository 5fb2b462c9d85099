"""One page over several studies: each enhancement once, with what it could have shown; the same bytes every time."""

import csv
import io
import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from reports import frames
from reports.results.compare import study_thresholds
from reports.results.decisions import load_results
from reports.results.frozen_pool import write_pool
from reports.results.group import MAIN
from reports.results.seed_pool import PriorNoise
from reports.stats.estimates import Effect
from reports.stats.family import Test as Member
from reports.stats.family import nominal_level
from reports.stats.verdicts import Thresholds
from reports.study.report import make_report
from reports.summary.lines import smallest_shown, summary_lines
from reports.summary.page import summary_table, write_summary
from reports.tables.formats import p_value
from reports.tables.verdicts import bound_text
from tests.reports.made_studies import plan_study, train
from tests.reports.stats.checks import made_effect


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    first = plan_study(tmp_path_factory.mktemp("first"), "last_move_input", "ko_plane")
    train(first, {"without-last_move_input": 0.4})
    second = plan_study(tmp_path_factory.mktemp("second"), "stem_center_kernel", seeds=(1, 2))
    train(second, {})
    return [
        make_report(load_results(made.study, made.runs, made.study_folder), made.registry) for made in (first, second)
    ], first.registry


def effect(se: float, df: float, n: int = 4) -> Effect:
    return replace(made_effect(None, n, se=se, df=df), p_adjusted=0.5 if n > 2 else None)


@pytest.mark.parametrize("se, df, toggles", [(0.01, 3.0, 1), (0.004, 30.0, 4)])
def test_an_effect_of_that_size_is_called_with_the_power_of_the_thresholds(se, df, toggles):
    thresholds = Thresholds()
    size = smallest_shown(effect(se, df), thresholds, toggles)
    draws = np.random.default_rng(0)
    t = (size + se * draws.standard_normal(200_000)) / (se * np.sqrt(draws.chisquare(df, 200_000) / df))
    level = nominal_level(thresholds.alpha, [Member(1.0, df, "control", np.sqrt(0.5))] * toggles)
    called = (t > stats.t.ppf(1 - level / 2, df)).mean()
    assert called == pytest.approx(thresholds.power, abs=0.005)


def test_nothing_could_be_shown_without_seeds_or_noise():
    assert smallest_shown(replace(effect(0.01, 3.0), se=None), Thresholds(), 1) is None
    assert smallest_shown(effect(0.01, 3.0, n=2), Thresholds(), 1) is None


def test_every_enhancement_has_a_line_with_the_numbers_of_its_study(reports):
    made, registry = reports
    lines = summary_lines(made, registry)
    assert [line.card for line in lines] == ["last_move_input", "ko_plane", "stem_center_kernel"]
    rows = {row.cells["card"].text: row.cells for row in summary_table(lines).rows}
    found = made[0].analyses[MAIN, "nats"].effect("last_move_input")
    assert rows["last_move_input"]["delta"].value == found.delta == pytest.approx(-0.4, abs=0.02)
    assert rows["last_move_input"]["verdict"].text == "helps"
    assert rows["last_move_input"]["shown"].value == smallest_shown(found, study_thresholds(made[0].study), 2)
    assert rows["last_move_input"]["delta"].trials
    assert (
        rows["stem_center_kernel"]["verdict"].text == "underpowered"
        and rows["stem_center_kernel"]["shown"].value is None
    )


def test_files_are_the_same_bytes_each_time_and_complete(reports, tmp_path):
    made, registry = reports
    first, second = (write_summary(made, registry, tmp_path / name).parent for name in ("a", "b"))
    names = sorted(path.name for path in first.iterdir())
    assert names == ["summary.csv", "summary.json", "summary.md", "summary.png", "summary.svg"]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    text = (first / "summary.md").read_text()
    assert all(report.study.id in text for report in made) and "stem_center_kernel" in text
    assert len(list(csv.reader(io.StringIO((first / "summary.csv").read_text())))) == 4


def test_what_helps_by_itself_is_judged_beside_all_effects_of_the_page(tmp_path):
    """Three cards on one base: asked one by one, they are still three chances of a false verdict."""
    alone = plan_study(tmp_path / "alone", "ko_plane")
    train(alone, {"without-ko_plane": 0.012})
    others = plan_study(tmp_path / "others", "parametric_relu", "ladder_input")
    train(others, {})
    made = [
        make_report(load_results(each.study, each.runs, each.study_folder), each.registry) for each in (alone, others)
    ]
    effect = made[0].analyses[MAIN, "nats"].effect("ko_plane")
    assert made[0].verdicts == {"ko_plane": "helps"} and 0.017 < effect.p_adjusted < 0.05  # what the test is made for
    table = summary_table(summary_lines(made, alone.registry))
    cells = next(row.cells for row in table.rows if row.cells["card"].text == "ko_plane")
    assert cells["p"].value == effect.p_adjusted < 0.05 < cells["p_page"].value
    assert cells["verdict"].value == "not shown" and cells["verdict_study"].value == "helps"
    assert cells["verdict"].text == f"not shown: smaller than {bound_text(effect.bound)} (90 %); helps in its study"
    assert cells["bound"].value == effect.bound
    assert cells["shown"].value == smallest_shown(effect, study_thresholds(alone.study), 3)
    both = f"ko_plane (p {p_value(effect.p_adjusted)} in its study, {p_value(cells['p_page'].value)} here)"
    assert sum(both in note for note in table.notes) == 1 and any("p (page) over all" in note for note in table.notes)
    path = write_summary(made, alone.registry, tmp_path / "summary")
    assert "helps in its study" in path.read_text() and "p (page)" in path.read_text()
    frame = frames.effects(workspace=_one_workspace(tmp_path, alone, others))
    row = frame[frame.main & (frame.metric == "nats") & (frame.card == "ko_plane")].iloc[0]
    assert (row.p_adjusted, row.p_page) == (effect.p_adjusted, pytest.approx(cells["p_page"].value))
    assert (row.verdict, row.verdict_study, row.bound) == ("not shown", "helps", effect.bound)


def _one_workspace(folder, *made):
    """The studies in one workspace, each with the pool that it had by itself."""
    whole = folder / "whole"
    for each in made:
        write_pool(each.study_folder, PriorNoise({}, None, ()), "then", "commit")
        for part in ("runs", "studies"):
            shutil.copytree(each.folder / part, whole / part, dirs_exist_ok=True)
    return whole
