"""Figures: the same bytes every time, nothing taken for markup, one plot or a forest."""

import struct

import pytest

from reports.figures import study as figures
from reports.figures.study import draw
from reports.results.decisions import load_results
from reports.study.report import make_report
from tests.reports.made_studies import plan_study, train


def drawn(made):
    report = make_report(load_results(made.study, made.runs), made.registry)
    return draw(report.results, report.analyses[0, "nats"], report.findings)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    made = plan_study(tmp_path_factory.mktemp("figure"), "parametric_relu", title="A $5_{x}$ <b>title</b>")
    train(made, {"without-parametric_relu": 0.03})
    return made


def test_the_same_results_give_the_same_bytes(pair):
    first, again = drawn(pair), drawn(pair)
    assert first == again and set(first) == {"figure.png", "figure.svg"}


def test_png_is_twice_as_wide_as_a_page(pair):
    width, height = struct.unpack(">II", drawn(pair)["figure.png"][16:24])
    assert width == 1400 and 1000 < height < 1800


def test_no_dates_no_software_and_text_is_text(pair):
    pictures = drawn(pair)
    assert b"<dc:date>" not in pictures["figure.svg"] and b"Software" not in pictures["figure.png"]
    assert b"<b>" not in pictures["figure.svg"]


def test_settings_of_the_user_change_nothing(pair):
    import matplotlib

    before = drawn(pair)
    with matplotlib.rc_context({"font.size": 30, "text.parse_math": True, "axes.facecolor": "red"}):
        assert drawn(pair) == before
        assert matplotlib.rcParams["font.size"] == 30


def test_more_than_three_contrasts_make_a_forest(tmp_path, monkeypatch):
    called = []
    original = figures.draw_forest
    monkeypatch.setattr(figures, "draw_forest", lambda *arguments: called.append(1) or original(*arguments))
    made = plan_study(tmp_path, "parametric_relu", "ladder_input", "ko_plane", "liberty_planes", seeds=(1, 2))
    train(made, {}, skip=[("without-ko_plane", 1), ("without-ko_plane", 2)])
    assert drawn(made) and called


def test_one_seed_and_unpaired_arms_can_be_drawn(tmp_path):
    made = plan_study(tmp_path / "one", "parametric_relu", seeds=(1,))
    train(made, {})
    assert drawn(made)
    made = plan_study(tmp_path / "unpaired", "parametric_relu", seeds=(1, 2), pairing="none")
    train(made, {})
    assert drawn(made)


def test_nothing_is_drawn_of_nothing(tmp_path):
    assert drawn(plan_study(tmp_path, "parametric_relu")) is None
