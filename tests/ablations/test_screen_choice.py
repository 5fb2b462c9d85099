"""Which enhancements are screened, held, left out, and why."""

import dataclasses

import pytest

from ablations.designs import budget_config
from ablations.schema import Claim
from ablations.screens.arms import screen_arms
from ablations.screens.choice import ScreenPlace, base_of_most, choose, large_claim, parse_names
from gonn_core.errors import SettingError
from tests.ablations.screened import REGISTRY


def place(base: str = "gonn-b5", hold: tuple[str, ...] = ()) -> ScreenPlace:
    whole, budget = REGISTRY.base(base), REGISTRY.budget("cpu")
    held = tuple(REGISTRY.card(name).on_base(base, "cpu") for name in hold)
    return ScreenPlace(REGISTRY, whole, budget, budget_config(whole, budget), held)


def chosen(text: str, where: ScreenPlace | None = None):
    return choose(where or place(), parse_names(REGISTRY, text), lambda card: None)


def ids(choice) -> list[str]:
    return [card.id for card in choice.cards]


def test_a_group_leaves_out_what_does_not_fit():
    choice = chosen("features,net.stem,net.head,data")
    assert {"ladder_input", "ko_plane", "stem_kernel_5x5"} < set(ids(choice)) and not choice.held
    told = {
        "liberty_encoding": "has features.liberties = 4, while liberty_encoding is about features.liberties from 0",
        "zeros_plane": "zeros_plane needs features.set = cazenave",
        "clark_ko_plane": "computes the same as ko_plane here",
        "pooled_head_channels": "its arms compute the same; net.head.pooled_share makes no difference here",
        "last_move_input": "cannot be changed together with board_history, board_history_copy, five_moves_of_history",
    }
    for card, reason in told.items():
        assert choice.left_out[card].startswith(reason)
    assert not set(ids(choice)) & set(choice.left_out)
    screen_arms(choice.flips, choice.cards)


def test_cards_named_singly_have_to_fit():
    fitting = "ko_plane,ladder_input,center_init"
    assert ids(chosen(fitting)) == fitting.split(",")
    for card, reason in {
        "zeros_plane": "cannot be screened on gonn-b5: zeros_plane needs",
        "mover_rank_filter": "cannot be screened here: its arms see different positions",
        "clark_ko_plane": "cannot be screened here: computes the same as ko_plane here",
    }.items():
        with pytest.raises(SettingError, match=f"^NAME={card}: {reason}"):
            chosen(f"{fitting},{card}")
    with pytest.raises(SettingError, match="go_nn_territory: cannot be screened here: an arm of it does not train the"):
        chosen("elu,go_nn_ko_plane,go_nn_ones_plane,go_nn_territory", place("go-nn"))
    with pytest.raises(SettingError, match="2 enhancements can be screened on gonn-b5; valid: at least 3"):
        chosen("ko_plane,ladder_input")
    too_many = "board_history,board_history_copy,five_moves_of_history,last_move_input,history_dropping"
    with pytest.raises(SettingError, match="^NAME=last_move_input: cannot be screened here: cannot be changed tog"):
        chosen(f"{fitting},{too_many}")
    one_singly = chosen("last_move_input,features,data,net.stem")
    assert one_singly.cards[0].id == "last_move_input" and "board_history_copy" in one_singly.left_out


def test_what_a_card_needs_can_be_held():
    where = place("gonn-b4")
    lacking = chosen("net", where).left_out["prelu_init"]
    assert lacking == "prelu_init needs parametric_relu, which gonn-b4 lacks: HOLD=parametric_relu puts it in"
    held = place("gonn-b4", ("parametric_relu",))
    choice = chosen("net", held)
    assert "prelu_init" in ids(choice) and choice.held == {"parametric_relu": "HOLD: on in all arms"}
    design = screen_arms(choice.flips, choice.cards)
    assert all(arm.config.net.activation == "prelu" for arm in design.arms)
    assert design.arms[0].label == "gonn-b4 with parametric_relu"
    assert design.arms[0].values == {"net.activation": '"prelu"'}
    with pytest.raises(SettingError, match="^NAME=parametric_relu: cannot be screened here: HOLD has it already"):
        chosen("parametric_relu,net", held)


def test_what_is_held_stays():
    choice = chosen("net", place(hold=("global_pooling_head",)))
    assert choice.held == {"global_pooling_head": "HOLD: on in all arms, as in gonn-b5"}
    assert choice.left_out["stdev_pooling"] == "changes what HOLD=global_pooling_head keeps"
    with pytest.raises(SettingError, match="^HOLD=zeros_plane: set gonn takes zeros false"):
        chosen("net.stem", place(hold=("zeros_plane",)))
    with pytest.raises(SettingError, match="^HOLD=frozen_history: frozen_history needs history_dropping; valid: "):
        chosen("net.stem", place("gonn-b4", ("frozen_history",)))


@pytest.mark.parametrize("value, is_large", [(-0.25, True), (-0.05, False)])
def test_effects_claimed_to_be_large_are_held_in_groups(value, is_large):
    card = REGISTRY.card("ladder_input")
    made = card.claims[0].model_dump() | {"metric": "nats", "quantity": "difference", "direction": "decrease"}
    card = card.model_copy(update={"claims": (Claim(**made | {"range": None, "value": value}),)})
    assert (large_claim(card) is not None) == is_large
    registry = dataclasses.replace(REGISTRY, cards={**REGISTRY.cards, card.id: card})
    where = dataclasses.replace(place(), registry=registry)
    group = choose(where, parse_names(registry, "features,net.stem,net.head"), lambda card: None)
    assert ("ladder_input" in group.held) == is_large
    singly = choose(where, parse_names(registry, "ko_plane,ladder_input,center_init"), lambda card: None)
    assert not singly.held


@pytest.mark.parametrize("group", ["cazenave", "go_nn", "net.trunk"])
def test_groups_make_screens(group):
    where = place(base_of_most(parse_names(REGISTRY, group)))
    choice = chosen(group, where)
    design = screen_arms(choice.flips, choice.cards)
    assert len({arm.config for arm in design.arms}) == len(design.arms)
    assert set(ids(choice)) | set(choice.left_out) == {card.id for card in parse_names(REGISTRY, group).cards}
