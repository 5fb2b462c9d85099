"""Effects that earlier studies measured, which a screen of a group goes by."""

import pytest

from orchestration.study.plan import large_effects
from reports.workspace import Workspace
from tests.reports.made_studies import plan_study, train


def test_the_largest_effect_that_is_shown_one_card_at_a_time(tmp_path):
    earlier = plan_study(tmp_path, "parametric_relu", "global_pooling_head")
    train(earlier, {"without-parametric_relu": 0.25})
    unread = tmp_path / "studies" / "another" / "study.json"
    unread.parent.mkdir()
    unread.write_text("{}")
    workspace = Workspace(tmp_path)
    (reason,) = (large := large_effects(workspace, "gonn-b5", "smoke")).values()
    assert list(large) == ["parametric_relu"]  # the interval of the other holds 0
    assert earlier.study.id in reason and float(reason.split()[3]) == pytest.approx(-0.25, abs=0.02)  # of having it
    assert large_effects(workspace, "gonn-b5", "cpu") == {} == large_effects(workspace, "gonn-b4", "smoke")


def test_small_effects_are_screened(tmp_path):
    made = plan_study(tmp_path, "parametric_relu")
    train(made, {"without-parametric_relu": 0.05})
    assert large_effects(Workspace(tmp_path), "gonn-b5", "smoke") == {}


def test_screens_are_skipped(tmp_path):
    made = plan_study(
        tmp_path, "parametric_relu", "ko_plane", "ladder_input", design="screen", seeds=(1, 2, 3, 4), runs=32
    )
    train(made, {contrast: 0.5 for contrast in made.study.contrasts[0].without})
    assert large_effects(Workspace(tmp_path), "gonn-b5", "smoke") == {}
