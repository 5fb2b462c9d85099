"""Bases, budgets and cards put together: arms, their control, and how far they are from a claim's conditions."""

import dataclasses

import pytest

from ablations.arms import base_and_samples, bases_of, budget_config, on_one_base, resolve
from ablations.claimed import Comparison, differences
from ablations.data.game_filters import filters_of
from ablations.registry import load_registry
from ablations.schema import Condition
from ablations.wording import leading_claim
from gonn_core.config import canonical, get_path, trial_id, with_values
from gonn_core.errors import SettingError


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def error_of(call, *arguments, **named):
    with pytest.raises(SettingError) as error:
        call(*arguments, **named)
    return str(error.value)


def test_every_card_resolves_on_every_base_it_names(registry):
    for card in registry.cards.values():
        named = {
            card.base,
            *(form.partition(".")[0] for form in card.forms),
            *(claim.base for claim in card.claims if claim.base),
        }
        fitting = bases_of(registry, card)
        assert named <= set(fitting), card.id
        for base in fitting:
            for budget in registry.budgets:
                arms = resolve(registry, card.id, budget, base=base)
                assert trial_id(arms.off) != trial_id(arms.on)
                differing = {path for path in card.toggles if get_path(arms.off, path) != get_path(arms.on, path)}
                assert differing == set(arms.card.toggles)


@pytest.mark.parametrize("budget", ["smoke", "cpu"])
def test_all_cards_of_a_base_share_its_control_and_no_two_are_the_same(registry, budget):
    by_base = {}
    for card in registry.cards.values():
        if not filters_of([card]):  # whose controls are the data set's
            arms = resolve(registry, card.id, budget)
            by_base.setdefault(arms.base.id, []).append(arms)
    assert len(by_base["gonn-b5"]) > 20
    for arms in by_base.values():
        assert len({trial_id(a.control) for a in arms}) == 1
        twins = {}
        for a in arms:
            assert twins.setdefault(trial_id(a.treatment), a.card.id) == a.card.id


def test_design_follows_from_what_the_base_has(registry):
    for card, base, design in [
        ("parametric_relu", "gonn-b5", "leave-one-out"),
        ("parametric_relu", "gonn-b4", "add-one"),
        ("global_pooling_trunk", "gonn-b5", "add-one"),
        ("stdev_pooling", "gonn-b5", "add-one"),
        ("stdev_pooling", "gonn-b4", "leave-one-out"),
        ("dilated_convolutions", "gonn-b12", "leave-one-out"),
        ("five_moves_of_history", "gonn-b4", "add-one"),
        ("liberty_planes", "gonn-b4", "leave-one-out"),
        ("prelu_init", "gonn-b5", "add-one"),
        ("ladder_block", "gonn-b4-2018-01", "leave-one-out"),
        ("wide_low_rank", "gonn-b4-2018-01", "add-one"),
        ("wide_low_rank_split", "gonn-b4-2018-02", "add-one"),
        ("chain_pooling_two_blocks", "gonn-b5", "add-one"),
        ("crelu_head", "gonn-b5", "leave-one-out"),
    ]:
        arms = resolve(registry, card, "gpu", base=base)
        assert arms.design == design, (card, base)
        assert arms.control == budget_config(arms.base, arms.budget)
        assert arms.treatment is (arms.on if design == "add-one" else arms.off)


def test_budgets_set_net_and_schedule(registry):
    cpu = resolve(registry, "parametric_relu", "cpu").control
    assert (cpu.net.trunk.width, cpu.net.trunk.blocks, cpu.training.batch_size, cpu.training.samples) == (
        32,
        3,
        32,
        100_000,
    )
    assert cpu.training.schedule.kind == "linear"
    gpu = resolve(registry, "parametric_relu", "gpu")
    assert gpu.base.id == "gonn-b4" and gpu.claim.id == "early_loss"
    assert canonical(gpu.control)["training"] == {
        "batch_size": 100,
        "optimiser": {"learning_rate": 0.032, "head_factor": 1.0},
        "schedule": {"exponent": 4, "offset": 14, "first_drop": 4_500_000},
        "precision": "bf16",
    }  # the rest are defaults
    assert (gpu.control.data.view, gpu.control.training.init_seed, gpu.control.training.data_seed) == ("0" * 20, 0, 0)


def test_paper_takes_the_claims_samples(registry):
    def ground(card, base=None, claim=None):
        stand, samples, _ = base_and_samples(registry, registry.card(card), registry.budget("paper"), base, claim)
        return stand.id, samples

    assert ground("global_pooling_trunk") == ("gonn-b12", 60_000_000)
    assert ground("parametric_relu", claim="later_loss") == ("gonn-b4", 15_000_000)
    assert ground("parametric_relu", base="gonn-b5") == ("gonn-b5", 5_000_000)
    # No samples told: to the end of the published run. No base told: the card's own.
    assert ground("dilated_convolutions") == ("gonn-b5", 205_000_000)
    assert ground("ladder_only_target") == ("gonn-b4", 15_000_000)
    assert base_and_samples(registry, registry.card("ladder_only_target"), registry.budget("paper"))[2] is None
    # A count is made on any net: it chooses none.
    assert ground("additive_gate_absolute") == ground("additive_gate") == ("lczero-s", 2_000_000_000)
    assert ground("smolgen_unshared")[0] == "lczero-s-smolgen"
    assert ground("smolgen_unshared", claim="parameters")[0] == "lczero-r-all"
    # The first that tells of an effect leads.
    assert leading_claim(registry.card("three_output_planes").claims).id == "accuracy"


def test_a_claims_samples_are_cut_to_whole_batches(registry):
    base, paper = registry.base("gonn-b5"), registry.budget("paper")
    odd = base.model_copy(
        update={"config": with_values(base.config, {"training.batch_size": 128, "training.samples": 1280})}
    )
    config = budget_config(odd, paper, 5_000_000)
    assert config.training.samples == 39_062 * 128
    claim = registry.card("ladder_input").claims[0]
    comparison = Comparison(registry.card("ladder_input"), config, config, "gogod")
    assert claim.samples == 5_000_000 and not any(
        "samples" in part for part in differences(registry, comparison, claim)
    )


def test_a_compressed_schedule_ends_where_the_published_one_ended(registry):
    budget = registry.budget("cpu").model_copy(update={"compress": True, "overrides": {"training.batch_size": 32}})
    config = budget_config(registry.base("gonn-b5"), budget)
    assert config.training.schedule.kind == "gonn" and config.training.schedule.compression == 2050.0
    longer = budget.model_copy(update={"samples": 400_000_000})
    assert budget_config(registry.base("gonn-b5"), longer).training.schedule.compression == 1.0
    base = registry.base("gonn-b5")
    linear = base.config.training.model_copy(
        update={"schedule": base.config.training.schedule.model_copy(update={"kind": "linear"})}
    )
    base = base.model_copy(update={"config": base.config.model_copy(update={"training": linear})})
    assert (
        error_of(budget_config, base, budget)
        == "BUDGET=cpu: cannot compress the schedule of gonn-b5 (linear); valid: a base with the schedule gonn or knots"
    )


def test_errors_of_resolve(registry):
    assert error_of(resolve, registry, "parametric_relu", "cpu", claim="early_loss").startswith(
        "CLAIM=early_loss: budget cpu takes nothing from a claim"
    )
    assert error_of(resolve, registry, "prelu_init", "gpu", claim="early").startswith(
        "CLAIM=early: no such claim of prelu_init; valid: train_loss, "
    )
    expected = (
        "BASE=gonn-b4: prelu_init needs parametric_relu; valid: gonn-april-12b, gonn-b12, "
        "gonn-b4-2018-01, gonn-b4-2018-01-18, gonn-b4-2018-01-27, gonn-b4-2018-01-wide, gonn-b4-2018-02, "
        "gonn-b4-2018-02-13, gonn-b5"
    )
    assert error_of(resolve, registry, "prelu_init", "cpu", base="gonn-b4") == expected


def with_card(registry, **changes):
    """The registry with parametric_relu changed."""
    card = registry.card("parametric_relu").model_copy(update=changes)
    return dataclasses.replace(registry, cards={**registry.cards, card.id: card})


def test_a_base_that_has_a_card_neither_off_nor_on(registry):
    other = registry.card("dilated_convolutions").model_copy(update={"forms": {}})
    changed = dataclasses.replace(registry, cards={**registry.cards, other.id: other})
    expected = (
        "BASE=gonn-b12: has net.trunk.dilations = 2, while dilated_convolutions is about net.trunk.dilations from none "
        "to 2, 3, 2, 3; valid: "
        "gonn-b4, gonn-b4-2018-01, gonn-b4-2018-01-18, gonn-b4-2018-01-27, gonn-b4-2018-01-wide, gonn-b4-2018-02, "
        "gonn-b4-2018-02-13, gonn-b5"
    )
    assert error_of(resolve, changed, "dilated_convolutions", "cpu", base="gonn-b12") == expected


def test_a_base_that_cannot_have_a_card(registry):
    assert error_of(resolve, registry, "chain_pooling", "cpu", base="lczero-s").startswith(
        "BASE=lczero-s: chain_pooling cannot be put in: beside its other settings (net.family = encoder) this base can "
        "only have net.trunk.chain_pooling = 0; valid: gonn-april-12b, "
    )


def together(registry, *names, base=None, design="add-one"):
    cards = [registry.card(name) for name in names]
    return on_one_base(registry, cards, registry.budget("cpu"), design, base)


@pytest.mark.parametrize("base", [None, "gonn-b5", "lczero-s"])
def test_cards_of_nets_without_a_base_in_common_can_never_be_compared(registry, base):
    """Whatever base is given: it is not to blame."""
    assert error_of(together, registry, "chain_pooling", "smolgen", base=base) == (
        "NAME=chain_pooling,smolgen: chain_pooling and smolgen can never be compared in one study, for no base fits "
        "both (chain_pooling: gonn-april-12b, gonn-b12, gonn-b4 and 7 more; smolgen: lczero-1024, lczero-ci, lczero-m "
        "and 4 more); valid: a study for each"
    )


def test_where_the_first_ones_base_does_not_do_one_that_fits_all_is_named(registry):
    assert error_of(together, registry, "center_init", "ladder_target_large") == (
        "NAME=center_init,ladder_target_large: gonn-b5, the base of center_init, does not fit all of them "
        "(ladder_target_large needs features.ladders = False); valid: BASE=gonn-b4 or BASE=gonn-b4-2018-01 or "
        "BASE=gonn-b4-2018-01-18"
    )
    text = error_of(together, registry, "center_init", "ladder_target_large", base="gonn-b5")
    common = text.partition("; valid: ")[2].split(", ")
    assert text.startswith("BASE=gonn-b5: ladder_target_large needs features.ladders = False; valid: gonn-b4, ")
    assert all(together(registry, "center_init", "ladder_target_large", base=base) for base in common)


def test_three_of_which_two_fit_each_other_but_no_base_fits_all(registry):
    fitting = {"a": ["x", "y"], "b": ["y", "z"], "c": ["x", "z"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ablations.arms.bases_of", lambda _, card: fitting[card.id])
        patch.setattr("ablations.arms.misfit", lambda *_: "lacks it")
        one = registry.card("elu")
        cards = [one.model_copy(update={"id": name}) for name in fitting]
        text = error_of(on_one_base, registry, cards, registry.budget("cpu"), "add-one")
    assert text == "NAME=a,b,c: no base fits all of them (a: x, y; b: y, z; c: x, z); valid: BASE=x without b"


def test_conditions(registry):
    needs_depth = with_card(registry, requires=(Condition(path="net.trunk.blocks", value=12),))
    assert bases_of(needs_depth, needs_depth.card("parametric_relu")) == ["gonn-april-12b", "gonn-b12"]
    no_ladders = with_card(registry, excludes=(Condition(path="features.ladders", value=True),))
    assert bases_of(no_ladders, no_ladders.card("parametric_relu")) == [
        "gonn-b4",
        "gonn-b4-2018-01",
        "gonn-b4-2018-01-18",
        "gonn-b4-2018-01-27",
        "gonn-b4-2018-01-wide",
        "gonn-cnn-2017-12",
    ]
    assert "excludes features.ladders = True" in error_of(resolve, no_ladders, "parametric_relu", "cpu", base="gonn-b5")
    with pytest.raises(ValueError, match="either"):
        Condition(card="x", path="y")
