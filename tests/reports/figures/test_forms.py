"""What a figure shows: linear axes with far effects written at the edge, words that lie on nothing, verdicts told apart
without colours, curves that begin where a net is better than a guess; the same bytes every time."""

import math
import struct

import matplotlib
import pytest
from matplotlib.figure import Figure

from gonn_core.metrics import UNIFORM_NATS
from reports.figures.marks import MARKS, draw_effect
from reports.figures.study import cut_at_uniform, draw
from reports.figures.style import FAR, reach
from reports.page import forest_groups
from reports.results.decisions import load_results
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.page import study_forest
from reports.study.report import make_report
from reports.summary.lines import forest, summary_forest, summary_lines
from tests.reports.figures.boxes import clashes, painted, texts
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
    headings = [
        f"{base}, smoke, 5.12k samples ({by})"
        for base, by in (("gonn-b5", "GoNN"), ("clark-medium", "Clark & Storkey"))
    ]
    assert names[0] == headings[0] and headings[1] in names
    sizes = [row.delta for row in rows[1:6]]
    assert sizes == sorted(sizes) and names[1] == "last_move_input"
    assert rows[1].cost == "× 1.11 FLOPs"
    figure = painted(monkeypatch, forest(effects, "forest", "").draw)
    assert figure.axes[0].get_xscale() == "linear" and clashes(figure) == []
    said = [text.get_text() for text in texts(figure)]
    assert any(text.startswith("helps") for text in said) and {row.cost for row in effects} < set(said)


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
    assert pytest.approx(math.log(361)) == UNIFORM_NATS and axes.get_ylim()[1] < (8 if best < UNIFORM_NATS else 20)


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
    assert width == 1050 and 1000 < height < 1800, "half as wide again as a page"
    assert b"<dc:date>" not in pictures["figure.svg"] and b"Software" not in pictures["figure.png"]
    assert b"<b>" not in pictures["figure.svg"]
