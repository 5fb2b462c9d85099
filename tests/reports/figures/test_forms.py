"""What a figure shows: linear axes with far effects written at the edge, words that lie on nothing, verdicts told apart
without colours, curves that begin where a net is better than a guess; the same bytes every time."""

import math
import struct

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ablations.published_results import EloPoint
from reports.book.cost import cost_picture, gains
from reports.book.elo import above, elo_picture
from reports.figures.marks import MARKS, draw_effect, legend
from reports.figures.study import cut_at_uniform, draw
from reports.figures.style import FAR, reach
from reports.page import forest_groups
from reports.play.ladder import read_ladder
from reports.results.decisions import load_results
from reports.results.study_results import UNIFORM
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.page import study_forest
from reports.study.report import make_report
from reports.summary.lines import forest, summary_forest, summary_lines
from tests.reports.figures.boxes import clashes, painted, texts
from tests.reports.made_ladders import rung, write_ladder
from tests.reports.made_studies import plan_study, train

CARDS = ("last_move_input", "ko_plane", "parametric_relu", "ladder_input", "liberty_planes")


def draw_study(report) -> dict | None:
    """The figure of a study."""
    return draw(report.results, report.nats, report.findings, study_forest(report))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One base with five effects of which one is far beyond the others, and another base."""
    folder = tmp_path_factory.mktemp("forms")
    first = plan_study(folder / "one", *CARDS)
    train(first, {"without-last_move_input": 0.9, "without-parametric_relu": -0.3})
    second = plan_study(folder / "two", "liberty_encoding", base="clark-medium")
    train(second, {})
    return [make_report(load_results(each.study, each.runs), each.registry) for each in (first, second)], first.registry


def test_verdicts_are_told_apart_by_shape_and_filling():
    assert set(MARKS) == set(EffectVerdict)
    unjudged = {verdict for verdict in EffectVerdict if verdict.tone == "open"}
    looks = {verdict: (mark.shape, mark.filled, mark.half) for verdict, mark in MARKS.items()}
    judged = {verdict: look for verdict, look in looks.items() if verdict not in unjudged}
    (shared,) = {looks[verdict] for verdict in unjudged}
    assert len({shared, *judged.values()}) == len(judged) + 1


def test_an_axis_leaves_out_what_is_far_beyond_most_effects():
    near = [(0.01 * k, Interval(0.01 * k - 0.02, 0.01 * k + 0.02)) for k in range(-4, 5)]
    everything = reach(near)
    assert all(everything.holds(end) for value, ends in near for end in (value, ends.low, ends.high))
    far = reach([*near, (-1.4, Interval(-1.5, -1.3))])
    assert (far.low, far.high) == (everything.low, everything.high) and not far.holds(-1.4)
    assert reach([(-0.4, None), (-0.5, None)]).holds(-0.5) and reach([(FAR, None), (1.0, None)]).holds(FAR)
    assert reach([(0.01, Interval(-5.0, 5.0))]).high < 0.05  # a wide interval does not press its effect into a line
    assert reach([]).low < 0 < reach([]).high


def test_a_far_effect_is_an_arrow_with_its_numbers():
    axes = Figure().subplots()
    within = reach([(0.01, None), (0.02, None)])
    assert draw_effect(axes, 0, -1.4, Interval(-1.5, -1.3), MARKS[EffectVerdict.HELPS], within)
    assert [line.get_marker() for line in axes.lines] == ["<"]
    assert [text.get_text() for text in axes.texts] == ["−1.4000 [−1.5000, −1.3000]"]
    assert not draw_effect(axes, 1, 0.01, Interval(0.0, 0.02), MARKS[EffectVerdict.NOT_SHOWN], within)


def test_a_forest_goes_by_base_then_by_size_on_a_linear_axis(made, monkeypatch):
    reports, registry = made
    effects = summary_forest(summary_lines(reports, registry))
    rows = forest_groups(effects)
    names = [row if isinstance(row, str) else row.label for row in rows]
    assert names[0] == "gonn-b5, smoke (GoNN)" and "clark-medium, smoke (Clark & Storkey)" in names
    sizes = [row.delta for row in rows[1:6]]
    assert sizes == sorted(sizes) and names[1] == "last_move_input"
    figure = painted(monkeypatch, forest(effects, "forest", "").draw)
    assert figure.axes[0].get_xscale() == "linear" and clashes(figure) == []
    said = [text.get_text() for text in texts(figure)]
    assert any(text.startswith("helps") for text in said) and any(text.startswith("−0.8") for text in said)


def test_gain_and_cost_stand_in_rows_with_a_name_each(made, monkeypatch):
    figure = painted(monkeypatch, cost_picture(gains(summary_lines(*made))).draw)
    assert {axes.get_xscale() for axes in figure.axes} == {"linear"} and clashes(figure) == []
    said = [text.get_text() for text in texts(figure)]
    assert all(card in said for card in CARDS) and all(axes.get_xlabel() for axes in figure.axes)


def test_the_texts_of_a_studys_figure_lie_on_nothing(made, monkeypatch):
    for report in made[0]:
        figure = painted(monkeypatch, lambda report=report: draw_study(report))
        assert clashes(figure) == []
        assert all(axes.get_xlabel() and axes.get_xscale() == axes.get_yscale() == "linear" for axes in figure.axes)
        assert figure.axes[0].get_ylabel() == "validation nats"


@pytest.mark.parametrize("ends, best", [((50.0, 12.0, 4.4), 4.4), ((90.0, 12.0, 9.0), 9.0)])
def test_a_curve_from_far_above_a_guess_does_not_press_the_rest_into_a_line(ends, best):
    axes = Figure().subplots()
    axes.plot([1, 2, 3], ends, linewidth=2.0, color="#0072B2")
    axes.set_ylim(best - 1, 60.0)
    cut_at_uniform(axes, [best])
    assert pytest.approx(math.log(361)) == UNIFORM and axes.get_ylim()[1] < (8 if best < UNIFORM else 20)


def test_a_legend_is_as_wide_as_its_words():
    for words, columns in (("short", 2), ("a long entry of a legend, of which two are wider than the page", 1)):
        figure = Figure(figsize=(7, 3), layout="constrained")
        figure.subplots()
        legend(figure, [Line2D([], [], label=f"{words} {k}") for k in range(4)])
        assert len({round(text.get_window_extent().x0) for text in _laid_out(figure)}) == columns
        assert clashes(figure) == []


def _laid_out(figure):
    figure.draw_without_rendering()
    return figure.legends[0].get_texts()


def drawn(made) -> dict | None:
    return draw_study(make_report(load_results(made.study, made.runs), made.registry))


def test_the_same_results_give_the_same_bytes_whatever_the_user_has_set(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", title="A $5_{x}$ <b>title</b>")
    train(made, {"without-parametric_relu": 0.03})
    pictures = drawn(made)
    with matplotlib.rc_context({"font.size": 30, "text.parse_math": True, "axes.facecolor": "red"}):
        assert drawn(made) == pictures
        assert matplotlib.rcParams["font.size"] == 30
    assert set(pictures) == {"figure.png", "figure.svg"}
    width, height = struct.unpack(">II", pictures["figure.png"][16:24])
    assert width == 1400 and 1000 < height < 1800, "twice as wide as a page"
    assert b"<dc:date>" not in pictures["figure.svg"] and b"Software" not in pictures["figure.png"]
    assert b"<b>" not in pictures["figure.svg"]


@pytest.mark.parametrize("settings", [{"seeds": (1,)}, {"seeds": (1, 2), "pairing": "none"}])
def test_one_seed_and_unpaired_arms_can_be_drawn(tmp_path, settings):
    made = plan_study(tmp_path, "parametric_relu", **settings)
    assert drawn(made) is None, "nothing is drawn of nothing"
    train(made, {})
    assert drawn(made)


def test_curves_of_strength_meet_at_a_loss_that_all_have(tmp_path, monkeypatch):
    rungs = [rung(10_000, 3.4, 0.25), rung(20_000, 2.9, 0.30), rung(50_000, 2.6, 0.34), rung(100_000, 2.4, 0.37)]
    ladder = read_ladder(write_ladder(tmp_path, rungs, [(80, 20), (70, 30), (60, 40)], (5, 15)), tmp_path / "matches")
    points = [EloPoint(top1=0.3 + 0.05 * k, nats=2.75 - 0.3 * k, elo=300.0 * k) for k in range(4)]
    elo, half = above(ladder, 2.75)
    middle = (ladder.ratings.elo[1] + ladder.ratings.elo[2]) / 2
    assert elo == pytest.approx(ladder.ratings.elo - middle)
    covariance = ladder.ratings.covariance
    variance = covariance[3, 3] + (covariance[1, 1] + covariance[2, 2] + 2 * covariance[1, 2]) / 4
    variance -= covariance[3, 1] + covariance[3, 2]
    assert half[3] == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-5)
    at_a_rung, none_there = above(ladder, 3.4)
    assert at_a_rung == pytest.approx(ladder.ratings.elo) and none_there[0] == pytest.approx(0, abs=1e-6)
    assert above(ladder, 2.0) is None
    figure = painted(monkeypatch, lambda: elo_picture(points, [ladder]))
    assert figure.axes[0].get_ylabel() == "Elo above a net of 2.75 test nats" and clashes(figure) == []


def test_texts_on_each_other_and_beyond_the_edge_are_found():
    figure = Figure()
    for x, text in ((0.5, "one"), (0.51, "other"), (0.99, "far out"), (0.1, "alone")):
        figure.text(x, 0.5, text)
    assert clashes(figure) == ["far out", "'one' on 'other'"]
