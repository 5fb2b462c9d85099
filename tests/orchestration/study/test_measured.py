"""Effects that earlier studies measured, which a screen of a group goes by."""

import pytest

from orchestration.study.screens.measured import measured_effects
from reports.workspace import Workspace
from tests.reports.made_studies import plan_study, train


def test_the_largest_effect_that_is_shown_one_card_at_a_time(tmp_path):
    earlier = plan_study(tmp_path, "parametric_relu", "global_pooling_head")
    train(earlier, {"without-parametric_relu": 0.25})
    unread = tmp_path / "studies" / "another" / "study.json"
    unread.parent.mkdir()
    unread.write_text("{}")
    workspace = Workspace(tmp_path)
    found = measured_effects(workspace, "gonn-b5", "smoke")
    assert found["parametric_relu"].study == earlier.study.id
    assert found["parametric_relu"].delta == pytest.approx(-0.25, abs=0.02)  # of having it
    assert "global_pooling_head" not in found  # its interval holds 0
    assert measured_effects(workspace, "gonn-b5", "cpu") == {} == measured_effects(workspace, "gonn-b4", "smoke")


def test_screens_tell_nothing(tmp_path):
    made = plan_study(
        tmp_path, "parametric_relu", "ko_plane", "ladder_input", design="screen", seeds=(1, 2, 3, 4), runs=32
    )
    train(made, {contrast: 0.5 for contrast in made.study.contrasts[0].without})
    assert measured_effects(Workspace(tmp_path), "gonn-b5", "smoke") == {}
