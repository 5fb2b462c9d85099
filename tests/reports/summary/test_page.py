"""One page over several studies: each enhancement once, with what it could have shown; the same bytes every time."""

import pytest

from reports import frames
from reports.results.decisions import load_results
from reports.results.group import MAIN, Groups
from reports.stats.verdicts import discovery_rates
from reports.study.report import make_report
from reports.summary.lines import WEAK, summary_lines, summary_table
from tests.reports.made_studies import plan_study, train


def reported(made):
    return make_report(load_results(made.study, made.runs, made.study_folder), made.registry)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    first = plan_study(tmp_path_factory.mktemp("first"), "last_move_input", "ko_plane", "parametric_relu")
    train(first, {"without-last_move_input": 0.4, "without-parametric_relu": -0.3})
    second = plan_study(tmp_path_factory.mktemp("second"), "stem_center_kernel", seeds=(1, 2))
    train(second, {})
    return [reported(first), reported(second)], first.registry


def test_every_enhancement_has_a_line_with_the_numbers_of_its_study(reports):
    made, registry = reports
    lines = summary_lines(made, registry)
    assert [line.card for line in lines] == ["last_move_input", "ko_plane", "parametric_relu", "stem_center_kernel"]
    rows = {row.cells["card"].text: row.cells for row in summary_table(lines).rows}
    effect, cells = made[0].nats.effect("last_move_input"), rows["last_move_input"]
    assert cells["delta"].value == effect.delta == pytest.approx(-0.4, abs=0.02)
    assert cells["verdict"].value == "helps" and cells["could_show"].value > 0 and cells["delta"].trials
    few = rows["stem_center_kernel"]
    assert few["verdict"].text == "underpowered" and few["could_show"].value is None


def test_controls_that_have_hardly_learned_are_named_with_what_they_predict(reports, monkeypatch):
    made, registry = reports
    (control,) = (arm.id for arm in made[0].study.arms if not arm.values)
    share = float(made[0].results.arm_result(control, MAIN, "top1").means.mean())
    lines = summary_lines(made, registry)
    assert (
        share < WEAK and f"gonn-b5, smoke, 5.12k samples of kgs: {100 * share:.2f} %" in summary_table(lines).notes[-1]
    )
    monkeypatch.setattr("reports.summary.lines.WEAK", share / 2)
    assert not any("early learning" in note for note in summary_table(lines).notes)


def test_what_helps_by_itself_is_judged_among_all_effects_of_the_page(tmp_path):
    """Cards on two bases: asked one by one, they are still several chances of a false verdict."""
    alone = plan_study(tmp_path, "ko_plane")
    train(alone, {"without-ko_plane": 0.012})
    others = plan_study(tmp_path, "parametric_relu", "ladder_input", base="gonn-b4")
    train(others, {})
    made = [reported(each) for each in (alone, others)]
    effect = made[0].nats.effect("ko_plane")
    assert made[0].verdicts == {"ko_plane": "helps"} and effect.q == effect.p  # what the test is made for
    judged = {card: each.p for report in made for card, each in report.nats.effects.items()}
    cells = {row.cells["card"].text: row.cells for row in summary_table(summary_lines(made, alone.registry)).rows}
    for card, q in zip(judged, discovery_rates(list(judged.values())), strict=True):
        assert cells[card]["q"].value == pytest.approx(q)
    assert cells["ko_plane"]["verdict"].value == "leans to helping"
    assert cells["ko_plane"]["could_show"].value > effect.se
    frame = frames.effects(workspace=tmp_path)
    row = frame[frame.main & (frame.metric == "nats") & (frame.card == "ko_plane")].iloc[0]
    assert (row.verdict, row.q) == ("leans to helping", pytest.approx(cells["ko_plane"]["q"].value))


def test_a_base_with_a_factorial_has_one_row_a_card_with_the_mean_and_the_effect_at_the_base(tmp_path):
    cards = ("parametric_relu", "ko_plane")
    several = plan_study(tmp_path, *cards, design="factorial", seeds=(1, 2, 3))
    train(several, {})
    alone = plan_study(tmp_path, "ko_plane", seeds=(1, 2, 3))
    results = [load_results(each.study, each.runs, each.study_folder) for each in (several, alone)]
    groups = Groups([each.study for each in results], lambda study: next(r for r in results if r.study == study))
    made = [make_report(each, several.registry, groups.of(each.study)) for each in results]
    rows = summary_table(summary_lines(made, several.registry)).rows
    assert {row.cells["card"].text for row in rows} == set(cards) and len(rows) == 2
    for row in rows:
        effect = made[0].analyses[MAIN, "nats"].effects[row.cells["card"].text]
        assert row.cells["delta"].value == effect.delta and sum(row.cells["runs"].value) == 12
        assert row.cells["at_base"].value[0] == made[0].nats.at_base[row.cells["card"].text].delta


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("seeds", [2, 3])
def test_of_a_comparison_at_two_numbers_of_samples_the_best_known_one_is_shown_or_the_longer(tmp_path, order, seeds):
    made = [
        plan_study(tmp_path, "ko_plane", reading={"training.samples": samples}, seeds=tuple(range(number)))
        for samples, number in ((960, 3), (1920, seeds))
    ]
    for each in made:
        train(each, {})
    short, long = map(reported, made)
    (line,) = summary_lines([short, long][::order], made[0].registry)
    assert line.report is (long if seeds == 3 else short)
