"""A screen beside studies at the base: what is set side by side, and whether the two agree."""

import pytest

from reports.book.screens import beside, draw_beside, screens_section
from reports.results.decisions import load_results
from reports.study.report import make_report
from reports.tables.formats import NONE
from tests.reports.made_studies import plan_study, train

CARDS = ("parametric_relu", "ladder_input", "ko_plane", "chain_pooling")
IN_THE_SCREEN = {"parametric_relu": -0.05, "chain_pooling": -0.03}
AT_THE_BASE = {"parametric_relu": +0.05, "chain_pooling": -0.03}


def report(made):
    return make_report(load_results(made.study, made.runs, made.study_folder), made.registry)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    screen = plan_study(tmp_path_factory.mktemp("screen"), *CARDS, design="screen", seeds=(1, 2, 3, 4), runs=32)
    levels = {
        arm.id: sum(
            IN_THE_SCREEN.get(each.card, 0.0) / 2 * (1 if arm.id in each.with_it else -1)
            for each in screen.study.contrasts
        )
        for arm in screen.study.arms
    }
    train(screen, levels)
    alone = plan_study(tmp_path_factory.mktemp("alone"), "parametric_relu", "chain_pooling", seeds=(1, 2, 3, 4))
    train(alone, {"without-parametric_relu": -AT_THE_BASE["parametric_relu"], "with-chain_pooling": -0.03})
    return report(screen), report(alone)


def test_cards_of_both_stand_side_by_side_the_largest_first(reports):
    rows = beside(reports[0], reports)
    assert [row.card for row in rows][0] == "parametric_relu" and {row.card for row in rows} == set(CARDS)
    both = {row.card: row for row in rows if row.alone is not None}
    assert set(both) == {"parametric_relu", "chain_pooling"}
    for card, row in both.items():
        delta, interval, p = row.difference
        assert delta == pytest.approx(row.effect.delta - row.alone.delta)
        true = IN_THE_SCREEN[card] - AT_THE_BASE[card]
        assert interval.low < true < interval.high
        assert (p < 0.05) == (card == "parametric_relu")


def test_section_says_what_took_how_many_runs_and_where_they_differ(reports):
    section = screens_section(reports)
    (table,), (picture,) = section.tables, section.pictures
    cells = {row.key: row.cells for row in table.rows}
    assert len(cells["parametric_relu"]["screen"].trials) == 32
    assert len(cells["parametric_relu"]["alone"].trials) == 8
    assert cells["ko_plane"]["alone"].text == NONE and cells["ko_plane"]["p"].text == NONE
    assert "4 effects of 32 runs" in section.sentences[1] and "2 of them of 12 runs" in section.sentences[1]
    assert "(p below 0.05 each) in parametric_relu." in section.sentences[1]
    assert set(draw_beside(picture.name, beside(reports[0], reports))) == {
        f"{picture.name}.png", f"{picture.name}.svg"
    }  # fmt: skip


def test_studies_under_other_conditions_are_not_set_beside(reports, tmp_path):
    other = plan_study(tmp_path, "parametric_relu", seeds=(1, 2, 3), base="gonn-b12")
    train(other, {})
    rows = beside(reports[0], [reports[0], report(other)])
    assert all(row.alone is None for row in rows)
    assert "no study at this base" in screens_section([reports[0], report(other)]).sentences[1]
