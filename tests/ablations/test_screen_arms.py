"""Screens of real cards: arms, contrasts, seeds, what goes together, what cannot be told apart."""

import itertools

import numpy as np
import pytest

from ablations.screens.aliases import alias_strings, residual_df, signs
from ablations.screens.arms import screen_arms
from ablations.screens.flips import Flips
from ablations.screens.names import parse
from ablations.study import Study
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from tests.ablations.screened import PINNED, REGISTRY, SEEDS, flips_of, study_of


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


def test_strings_of_interactions_by_brute_force():
    study = study_of(*PINNED)
    columns = signs(study)
    string_of = {}
    for number, string in enumerate(alias_strings(study)):
        assert not set(string.pairs) & set(string_of)
        string_of |= dict.fromkeys(string.pairs, number)
    assert ("global_pooling_head", "stdev_pooling") not in string_of  # never in one arm
    for one, other in itertools.combinations(string_of, 2):
        products = [columns[pair[0]].astype(int) * columns[pair[1]] for pair in (one, other)]
        if products[0] @ products[1]:
            assert string_of[one] == string_of[other]
    hidden = [string for string in alias_strings(study) if string.blocks]
    seeds = np.array([1 if digit == "1" else -1 for digit in SEEDS])
    assert len(hidden) == 1 and all((columns[a] * columns[b]) @ seeds for a, b in hidden[0].pairs)
    assert residual_df(study) == 32 - 1 - 1 - 16  # mean, seeds (which are the fractions), cards


def test_folding_over_splits_the_strings_of_a_card():
    cards = list(PINNED)
    whole, folded = study_of(*cards), study_of(*cards, fold="ko_plane")
    assert len(folded.arms) == 64 and [a.config for a in folded.arms[:32]] == [a.config for a in whole.arms]
    kept = {(trial.trial, trial.seed) for trial in whole.trials} <= {(t.trial, t.seed) for t in folded.trials}
    assert kept

    def beside(study):
        """Interactions without the card that are in a string with one of the card's."""
        own = [s for s in alias_strings(study) if any("ko_plane" in pair for pair in s.pairs)]
        return {pair for string in own for pair in string.pairs if "ko_plane" not in pair}

    assert beside(whole) and not beside(folded)
    for column in signs(folded).values():
        assert not column.sum()


def test_folding_over_by_a_card_of_a_part_of_the_arms():
    flips = flips_of(*PINNED)
    with pytest.raises(SettingError, match="^FOLD=stdev_pooling: is varied in a part of the arms only; valid: param"):
        screen_arms(flips, flips.cards, "stdev_pooling")
    few = flips_of("ko_plane", "ladder_input", "center_init", "chain_pooling", "stem_kernel_5x5", "parametric_relu")
    for count in (3, 5):
        with pytest.raises(SettingError, match="its interactions can be told from all others already; valid: "):
            screen_arms(few, few.cards[:count], few.cards[count - 1].id)
    assert len(screen_arms(few, few.cards, "chain_pooling").arms) == 32
    with pytest.raises(SettingError, match="^FOLD=elu: is not screened; valid: "):
        screen_arms(flips, flips.cards, "elu")


def test_runs_and_seeds():
    flips = flips_of(*PINNED)
    design = screen_arms(flips, flips.cards)
    assert (design.runs_of(None), design.runs_of(128), design.usual_seeds(32), design.usual_seeds(128)) == (
        32,
        128,
        2,
        4,
    )
    with pytest.raises(SettingError, match="^RUNS=48: the screen has 32 arms; valid: 32, 64, 128, 256, …$"):
        design.runs_of(48)
    one_each, whole = design.seeds_of(32, (5, 9, 7, 6)), design.seeds_of(64, (1, 2))
    assert {len(seeds) for seeds in one_each.values()} == {1} and set(whole.values()) == {(1, 2)}
    with pytest.raises(SettingError, match="^SEEDS=1,2,3: 32 runs are 1 of each of the 32 arms; valid: 1, 2 or 4 s"):
        design.seeds_of(32, (1, 2, 3))
    with pytest.raises(SettingError, match="^SEEDS=1,2,3,4: 64 runs are 2 of each of the 32 arms; valid: 2 seeds"):
        design.seeds_of(64, (1, 2, 3, 4))
    small = screen_arms(flips, [card for card in flips.cards if card.id in ("ko_plane", "ladder_input", "center_init")])
    assert len(small.arms) == 8 and small.runs_of(None) == 32 and small.usual_seeds(32) == 4


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
    assert parse(REGISTRY, "elu, ko_plane").ids == ("elu", "ko_plane")
    system = parse(REGISTRY, "lczero")
    assert set(system.ids) == {card.id for card in REGISTRY.cards_of("lczero")} and not system.singly
    everything = parse(REGISTRY, "elu,all")
    assert everything.ids[0] == "elu" and set(everything.ids) == set(REGISTRY.cards) and everything.singly == {"elu"}
    assert set(parse(REGISTRY, "net.head").ids) < set(parse(REGISTRY, "net").ids)
    with pytest.raises(SettingError, match=r"^NAME=net.hea: no such enhancement, nor a group \(all, cazenave, clark"):
        parse(REGISTRY, "net.hea")
    with pytest.raises(SettingError, match="named twice"):
        parse(REGISTRY, "elu,elu")
