"""Screens of real cards: arms, contrasts, seeds, what goes together."""

import itertools

import pytest

from ablations.screens.arms import Flips, screen_arms
from ablations.screens.choice import parse_names
from ablations.study import Study
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from tests.ablations.screened import PINNED, REGISTRY, flips_of, study_of


def test_arms_and_contrasts_of_real_cards():
    flips = flips_of(*PINNED)
    design = screen_arms(flips, flips.cards)
    for contrast in design.contrasts:
        changed = contrast.without if flips.states[contrast.card] == "on" else contrast.with_it
        assert "".join(".x"[arm.id in changed] for arm in design.arms) == PINNED[contrast.card]
        whole = len(design.screen.columns[contrast.card].group) == 1
        assert len(contrast.with_it) == len(contrast.without) == (16 if whole else 8)
    base = design.arms[0]
    assert (base.id, base.label, base.values, base.config) == ("run-01", "gonn-b5", {}, flips.base)
    assert design.arms[1].label == "run 2: − parametric_relu, − dilated_convolutions, − history_dropping, 4 more"
    assert design.arms[4].config == with_values(
        flips.base, {path: toggle for card in flips.cards if card.id in design.screen.changed[4]
                     for path, toggle in card.values("on" if flips.states[card.id] == "off" else "off").items()}
    )  # fmt: skip


def test_folding_over_tells_the_interactions_of_a_card_from_all_others():
    cards = list(PINNED)
    whole, folded = study_of(*cards), study_of(*cards, fold="ko_plane")
    assert len(folded.arms) == 64 and [a.config for a in folded.arms[:32]] == [a.config for a in whole.arms]
    assert {trial.trial for trial in whole.trials} <= {trial.trial for trial in folded.trials}

    def aliased(study):
        """Whether any interaction of the card has the signs of one of two others."""
        signs = {
            each.card: [(arm.id in each.with_it) - (arm.id in each.without) for arm in study.arms]
            for each in study.contrasts
        }
        own = signs.pop("ko_plane")
        assert not sum(own)
        triples = itertools.combinations(signs.values(), 3)
        return any(sum(a * b * c * d for a, b, c, d in zip(own, *three, strict=True)) for three in triples)

    assert aliased(whole) and not aliased(folded)


def test_folding_over_by_a_card_of_a_part_of_the_arms():
    flips = flips_of(*PINNED)
    with pytest.raises(SettingError, match="^FOLD=stdev_pooling: is varied in a part of the arms only; valid: param"):
        screen_arms(flips, flips.cards, "stdev_pooling")
    few = flips_of("ko_plane", "ladder_input", "center_init", "chain_pooling", "stem_kernel_5x5", "parametric_relu")
    for count in (3, 5):
        with pytest.raises(SettingError, match="its interactions are separate from all others already; valid: "):
            screen_arms(few, few.cards[:count], few.cards[count - 1].id)
    assert len(screen_arms(few, few.cards, "chain_pooling").arms) == 32
    with pytest.raises(SettingError, match="^FOLD=elu: is not screened; valid: "):
        screen_arms(flips, flips.cards, "elu")


def test_runs_and_seeds():
    flips = flips_of(*PINNED)
    design = screen_arms(flips, flips.cards)
    assert (design.runs_of(None), design.runs_of(128)) == (64, 128)
    assert (design.usual_seeds(32), design.usual_seeds(64), design.usual_seeds(128)) == (2, 2, 4)
    with pytest.raises(SettingError, match="^RUNS=48: the screen has 32 arms; valid: 32, 64, 128, 256, …$"):
        design.runs_of(48)
    one_each, whole = design.seeds_of(32, (5, 9, 7, 6)), design.seeds_of(64, (1, 2))
    assert {len(seeds) for seeds in one_each.values()} == {1} and set(whole.values()) == {(1, 2)}
    with pytest.raises(SettingError, match="^SEEDS=1,2,3: 32 runs are 1 of each of the 32 arms; valid: 1, 2 or 4 s"):
        design.seeds_of(32, (1, 2, 3))
    with pytest.raises(SettingError, match="^SEEDS=1,2,3,4: 64 runs are 2 of each of the 32 arms; valid: 2 seeds"):
        design.seeds_of(64, (1, 2, 3, 4))
    small = screen_arms(flips, [card for card in flips.cards if card.id in ("ko_plane", "ladder_input", "center_init")])
    assert len(small.arms) == 8 and small.runs_of(None) == 16 and small.usual_seeds(32) == 4


def test_an_arm_twice_is_refused():
    flips = Flips("gonn-b5", flips_of("ko_plane").base, [REGISTRY.card(n) for n in ("ko_plane", "clark_ko_plane")])
    assert flips.equal(*flips.cards) and flips.conflict(*flips.cards) == "both change features.ko"


def test_conflicts_are_told():
    flips = flips_of("history_dropping", "last_move_input", "chain_pooling", "pre_activation", "parametric_relu", "elu")
    by_id = {card.id: card for card in flips.cards}
    told = {
        (
            "history_dropping",
            "last_move_input",
        ): "history_dropping makes no difference where last_move_input is changed",
        ("parametric_relu", "chain_pooling"): None,
    }
    for (one, other), reason in told.items():
        assert flips.conflict(by_id[one], by_id[other]) == flips.conflict(by_id[other], by_id[one]) == reason
    assert "chain_pooling is of pre-activation trunks" in flips.conflict(
        by_id["chain_pooling"], by_id["pre_activation"]
    )
    assert flips.unfit(by_id["elu"]) == "gonn-b5 has neither its off nor its on values here"


def test_studies_read_back_what_a_screen_holds_and_leaves_out():
    study = study_of("ko_plane", "ladder_input", "center_init", held={"elu": "HOLD"}, left_out={"crelu_head": "why"})
    again = Study.model_validate_json(study.model_dump_json())
    assert again == study and (again.held, again.left_out) == ({"elu": "HOLD"}, {"crelu_head": "why"})


def test_names():
    def ids(text):
        return [card.id for card in parse_names(REGISTRY, text).cards]

    assert ids("elu, ko_plane") == ["elu", "ko_plane"]
    assert ids("lczero") == [card.id for card in REGISTRY.cards.values() if card.system == "lczero"]
    assert not parse_names(REGISTRY, "lczero").singly
    everything = parse_names(REGISTRY, "elu,all")
    assert everything.cards[0].id == "elu" and everything.singly == {"elu"}
    assert {card.id for card in everything.cards} == set(REGISTRY.cards)
    assert set(ids("net.head")) < set(ids("net"))
    with pytest.raises(SettingError, match=r"^NAME=net.hea: no such enhancement, nor a group \(all, cazenave, clark"):
        parse_names(REGISTRY, "net.hea")
    with pytest.raises(SettingError, match="named twice"):
        parse_names(REGISTRY, "elu,elu")
    with pytest.raises(SettingError, match="^NAME=net.head: a group"):
        parse_names(REGISTRY, "net.head", groups_allowed=False)
