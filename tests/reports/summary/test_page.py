"""One page over several studies: each enhancement once, with what it could have shown; the same bytes every time."""

import csv
import io

import pytest

from reports import frames
from reports.results.decisions import load_results
from reports.results.group import MAIN, Groups
from reports.stats.verdicts import discovery_rates
from reports.study.report import make_report
from reports.summary.lines import summary_lines, summary_table
from reports.summary.page import write_summary
from reports.tables.formats import q_value
from tests.reports.made_studies import plan_study, train


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    first = plan_study(tmp_path_factory.mktemp("first"), "last_move_input", "ko_plane")
    train(first, {"without-last_move_input": 0.4})
    second = plan_study(tmp_path_factory.mktemp("second"), "stem_center_kernel", seeds=(1, 2))
    train(second, {})
    return [
        make_report(load_results(made.study, made.runs, made.study_folder), made.registry) for made in (first, second)
    ], first.registry


def test_every_enhancement_has_a_line_with_the_numbers_of_its_study(reports):
    made, registry = reports
    lines = summary_lines(made, registry)
    assert [line.card for line in lines] == ["last_move_input", "ko_plane", "stem_center_kernel"]
    rows = {row.cells["card"].text: row.cells for row in summary_table(lines).rows}
    found = made[0].analyses[MAIN, "nats"].effect("last_move_input")
    assert rows["last_move_input"]["delta"].value == found.delta == pytest.approx(-0.4, abs=0.02)
    assert rows["last_move_input"]["verdict"].value == "helps" and rows["last_move_input"]["could_show"].value > 0
    assert rows["last_move_input"]["delta"].trials
    assert (
        rows["stem_center_kernel"]["verdict"].text == "underpowered"
        and rows["stem_center_kernel"]["could_show"].value is None
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
    """Cards on two bases: asked one by one, they are still several chances of a false verdict."""
    alone = plan_study(tmp_path, "ko_plane")
    train(alone, {"without-ko_plane": 0.012})
    others = plan_study(tmp_path, "parametric_relu", "ladder_input", base="gonn-b4")
    train(others, {})
    made = [
        make_report(load_results(each.study, each.runs, each.study_folder), each.registry) for each in (alone, others)
    ]
    effect = made[0].nats.effect("ko_plane")
    assert made[0].verdicts == {"ko_plane": "helps"} and effect.q == effect.p  # what the test is made for
    table = summary_table(summary_lines(made, alone.registry))
    judged = {card: each.p for report in made for card, each in report.nats.effects.items()}
    cells = {row.cells["card"].text: row.cells for row in table.rows}
    for card, q in zip(judged, discovery_rates(list(judged.values())), strict=True):
        assert cells[card]["q"].value == pytest.approx(q)
    cells = cells["ko_plane"]
    assert cells["verdict"].text == f"leans to helping (q {q_value(cells['q'].value)})"
    assert cells["could_show"].value > made[0].nats.effect("ko_plane").se
    frame = frames.effects(workspace=tmp_path)
    row = frame[frame.main & (frame.metric == "nats") & (frame.card == "ko_plane")].iloc[0]
    assert (row.verdict, row.q) == (cells["verdict"].value, pytest.approx(cells["q"].value))


def test_a_base_with_a_factorial_has_one_row_a_card_with_the_mean_and_the_effect_at_the_base(tmp_path):
    cards = ("parametric_relu", "ko_plane", "ladder_input")
    several = plan_study(tmp_path, *cards, design="factorial")
    train(several, {})
    alone = plan_study(tmp_path, "ko_plane")
    results = [load_results(each.study, each.runs, each.study_folder) for each in (several, alone)]
    groups = Groups([each.study for each in results], lambda study: next(r for r in results if r.study == study))
    made = [make_report(each, several.registry, groups.of(each.study)) for each in results]
    rows = summary_table(summary_lines(made, several.registry)).rows
    assert {row.cells["card"].text for row in rows} == set(cards) and len(rows) == 3
    for row in rows:
        card, runs = row.cells["card"].text, row.cells["runs"].value
        assert row.cells["delta"].value == made[0].nats.effects[card].delta and sum(runs) == 32
        assert row.cells["at_base"].value[0] == made[0].nats.at_base[card].delta
