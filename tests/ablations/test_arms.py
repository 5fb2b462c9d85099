"""Bases, budgets and cards put together: arms, their control, and how far they are from a claim's conditions."""

import dataclasses

import pytest

from ablations.arms import bases_of, check_fit, place, resolve
from ablations.claimed import Comparison, differences
from ablations.data.schema import filters_of
from ablations.designs import budget_config
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
    return error.value


def test_every_card_resolves_on_every_base_it_names(registry):
    for card in registry.cards.values():
        named = {card.base, *(claim.base for claim in card.claims if claim.base)}
        named |= card.forms.keys() & registry.bases.keys()
        fitting = bases_of(registry, card)
        assert named <= set(fitting), card.id
        places = {(base, budget) for base in fitting for budget in (registry.budgets if base in named else ["gpu"])}
        for base, budget in places | {tuple(form.split(".")) for form in card.forms if "." in form}:
            arms = resolve(registry, card.id, budget, base=base)
            assert with_values(arms.off, {path: get_path(arms.on, path) for path in arms.card.toggles}) == arms.on
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
        treatments = {trial_id(a.on if a.design == "add-one" else a.off) for a in arms}
        assert len(treatments) == len(arms)


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
    def paper(card, base=None, claim=None):
        where = place(registry, [registry.card(card)], registry.budget("paper"), base, claim)
        return where.base.id, where.config.training.samples

    assert paper("global_pooling_trunk") == ("gonn-b12", 60_000_000)
    assert paper("parametric_relu", claim="later_loss") == ("gonn-b4", 15_000_000)
    assert paper("parametric_relu", base="gonn-b5") == ("gonn-b5", 5_000_000)
    # No samples given: to the end of the published run. No base given: the card's own.
    assert paper("dilated_convolutions") == ("gonn-b5", 205_000_000)
    assert paper("ladder_only_target") == ("gonn-b4", 15_000_000)
    assert place(registry, [registry.card("ladder_only_target")], registry.budget("paper")).claim is None
    # A count is made on any net: it chooses none.
    assert paper("additive_gate_absolute") == paper("additive_gate") == ("lczero-s", 2_000_000_000)
    assert paper("smolgen_unshared")[0] == "lczero-s-smolgen"
    assert paper("smolgen_unshared", claim="parameters")[0] == "lczero-r-all"
    assert leading_claim(registry.card("three_output_planes").claims).id == "accuracy"  # the first on an effect


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
    assert error_of(budget_config, base, budget).setting == "BUDGET"


def test_errors_of_resolve(registry):
    error = error_of(resolve, registry, "parametric_relu", "cpu", claim="early_loss")
    assert (error.setting, error.value) == ("CLAIM", "early_loss") and "takes nothing from a claim" in error.problem
    error = error_of(resolve, registry, "prelu_init", "gpu", claim="early")
    assert error.setting == "CLAIM" and error.valid[0] == "train_loss"
    error = error_of(resolve, registry, "prelu_init", "cpu", base="gonn-b4")
    assert (error.setting, error.problem) == ("BASE", "prelu_init needs parametric_relu")
    assert "gonn-b5" in error.valid and "gonn-b4" not in error.valid


def with_card(registry, **changes):
    """The registry with parametric_relu changed."""
    card = registry.card("parametric_relu").model_copy(update=changes)
    return dataclasses.replace(registry, cards={**registry.cards, card.id: card})


def test_a_base_that_has_a_card_neither_off_nor_on(registry):
    other = registry.card("dilated_convolutions").model_copy(update={"forms": {}})
    changed = dataclasses.replace(registry, cards={**registry.cards, other.id: other})
    error = error_of(resolve, changed, "dilated_convolutions", "cpu", base="gonn-b12")
    assert error.setting == "BASE" and error.problem.startswith("has net.trunk.dilations = 2, while dilated_conv")
    assert "gonn-b4" in error.valid and "gonn-b12" not in error.valid


def test_a_base_that_cannot_have_a_card(registry):
    error = error_of(resolve, registry, "chain_pooling", "cpu", base="lczero-s")
    assert error.setting == "BASE" and error.problem.startswith("chain_pooling cannot be put in")


def together(registry, *names, base=None, design="add-one"):
    cards = [registry.card(name) for name in names]
    where = place(registry, cards, registry.budget("cpu"), base)
    check_fit(registry, cards, where.base, design, base is not None)
    return where.base.id


def test_where_the_base_of_the_first_does_not_fit_one_that_fits_all_is_named(registry):
    error = error_of(together, registry, "center_init", "ladder_target_large")
    assert error.setting == "NAME" and error.valid.startswith("BASE=gonn-b4 or BASE=gonn-b4-2018-01 or ")
    error = error_of(together, registry, "center_init", "ladder_target_large", base="gonn-b5")
    assert error.setting == "BASE" and "ladder_target_large needs features.ladders" in error.problem
    for base in error.valid:
        assert together(registry, "center_init", "ladder_target_large", base=base) == base


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
    error = error_of(resolve, no_ladders, "parametric_relu", "cpu", base="gonn-b5")
    assert error.problem == "parametric_relu excludes features.ladders = True"
    with pytest.raises(ValueError, match="either"):
        Condition(card="x", path="y")
