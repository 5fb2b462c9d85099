"""Which side of a contrast the control is on, also where a screen varies a card in arms without the control."""

from reports.worth.effects import control_has_it
from tests.reports.made_studies import plan_study

EXCLUSIVE = ("global_pooling_head", "pooled_maximum")
OTHERS = ("parametric_relu", "ladder_input", "ko_plane", "chain_pooling")


def test_cards_of_other_parts_of_a_screen_are_as_in_the_base(tmp_path):
    study = plan_study(tmp_path, *OTHERS, *EXCLUSIVE, design="screen", seeds=(1, 2), runs=16).study
    control = study.arms[0].id
    assert any(control not in (*each.with_it, *each.without) for each in study.contrasts)
    has = {each.card: control_has_it(study, each) for each in study.contrasts}
    assert has == {card: card != "chain_pooling" for card in (*OTHERS, *EXCLUSIVE)}


def test_designs_at_one_base_have_the_control_on_one_side(tmp_path):
    study = plan_study(tmp_path, "parametric_relu", "chain_pooling").study
    assert {each.card: control_has_it(study, each) for each in study.contrasts} == {
        "parametric_relu": True, "chain_pooling": False
    }  # fmt: skip
    study = plan_study(tmp_path / "all", "parametric_relu", "chain_pooling", design="leave-one-out").study
    assert all(control_has_it(study, each) for each in study.contrasts)
