"""Clark & Storkey's declarations: numbers as told, toggles that do what the paper's table took out, equal costs where
they are promised."""

import pytest

from ablations.arms import resolve
from ablations.claimed import conditions_of
from ablations.registry import load_registry
from ablations.schema import ANY_GAMES
from gonn_core.features.sets import plane_names
from gonn_core.nets import count_parameters, multiply_adds

EXCLUDED = {  # the ablation table, from memory: accuracy, rank, probability without the technique
    "clark_ko_plane": (36.55, 7.59, 0.0853),
    "edge_encoding": (36.81, 7.64, 0.0850),
    "masked_training": (36.31, 7.66, 0.0843),
    "liberty_encoding": (35.65, 7.89, 0.0811),
    "reflection_preserving": (34.95, 8.32, 0.0760),
    "clark_all_but_liberties": (34.48, 8.36, 0.0755),
    "clark_all_techniques": (33.45, 8.76, 0.0707),
}
CONCLUDED = {  # said of no measure, read of accuracy; of each technique, of several; of accuracy, of a probability
    "clark_relu.accuracy",
    "convolutional.accuracy",
    "edge_as_opponent.accuracy",
    "filter_shape.accuracy",
    "fully_connected_head.accuracy",
    "hidden_padding.accuracy",
    "learning_rate_annealing.accuracy",
    "second_full_layer.accuracy",
    "clark_all_techniques.rank",
    "clark_all_techniques.probability",
    "clark_all_but_liberties.rank",
    "clark_all_but_liberties.probability",
    "masked_training.illegal_points_unmasked",
}
NONE_EXCLUDED = (36.77, 7.50, 0.0866)


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def parameters(config) -> int:
    return count_parameters(config.net, len(plane_names(config.features)))


def test_published_counts(registry):
    for base, tied, untied in (("clark-full", 629_367, 4_599_273), ("clark-medium", 552_615, 4_279_193)):
        arms = resolve(registry, "reflection_preserving", "paper", base=base)
        assert (parameters(arms.on), parameters(arms.off)) == (tied, untied)


@pytest.mark.parametrize("card", EXCLUDED)
def test_claims_are_the_differences_of_the_table(registry, card):
    claims = {claim.id: claim for claim in registry.card(card).claims}
    scales = (0.01, 1, 1)
    for name, without, full, scale in zip(
        ("accuracy_value", "rank_value", "probability_value"), EXCLUDED[card], NONE_EXCLUDED, scales, strict=True
    ):
        assert claims[name].value == pytest.approx(scale * (full - without), abs=1e-9)
        assert claims[name].evidence == "unverified_memory" and claims[name].base == "clark-medium"
    rows = {row.top1 for row in registry.published["clark_storkey"].rows}
    assert any(row == pytest.approx(EXCLUDED[card][0] / 100) for row in rows if row)


@pytest.mark.parametrize("card, untied", [("clark_all_techniques", 4_265_081), ("clark_all_but_liberties", 4_274_489)])
def test_nets_without_several_techniques(registry, card, untied):
    """Two planes and six: the sides' stones, the sides' liberties."""
    off = resolve(registry, card, "paper").off
    assert parameters(off) == untied and not off.net.conv.tied and not off.training.mask_illegal


def test_memory_and_inference_are_never_called_stated(registry):
    for card in (card for card in registry.cards.values() if card.system == "clark_storkey"):
        for claim in card.claims:
            name = f"{card.id}.{claim.id}"
            derived = name in CONCLUDED
            told = "derived" if derived else "stated" if claim.value is None else "unverified_memory"
            assert claim.evidence == told, name
            if claim.samples is not None:
                assert claim.samples % registry.base(claim.base).config.training.batch_size == 0


@pytest.mark.parametrize("budget", ["smoke", "cpu", "paper"])
def test_few_large_kernels_cost_as_much(registry, budget):
    for base in ("clark-medium", "clark-full"):
        arms = resolve(registry, "filter_shape", budget, base=base)
        off, on = (multiply_adds(config.net, 8) for config in (arms.off, arms.on))
        assert off == pytest.approx(on, rel=0.06)


@pytest.mark.parametrize("budget", ["cpu", "paper"])
def test_the_perceptron_has_about_as_many_weights(registry, budget):
    arms = resolve(registry, "convolutional", budget)
    assert parameters(arms.off) == pytest.approx(parameters(arms.on), rel=0.25)


def test_remarks_on_all_nets_are_claims_for_any_games_and_layers(registry):
    """What the stored text has lost is no condition; how many layers the ablation study's net has is its word."""
    claims = {f"{card.id}.{claim.id}": (card, claim) for card in registry.cards.values() for claim in card.claims}
    conditions = conditions_of(registry, *claims["liberty_encoding.accuracy"])
    for lost in ("training.batch_size", "training.optimiser.learning_rate", "training.schedule.steps"):
        assert not conditions.tells(lost)
    for told in ("net.conv.layers", "training.schedule.kind", "training.optimiser.kind", "training.mask_illegal"):
        assert conditions.tells(told)
    assert not conditions_of(registry, *claims["clark_relu.accuracy"]).tells("net.conv.layers")
    assert claims["clark_relu.accuracy"][1].games == ANY_GAMES
    assert claims["liberty_encoding.accuracy"][1].games == ("gogod", "gogod-1800")
