"""go-NN's base and cards: exact counts, forms of the scaled nets, what fits where."""

import pytest

from ablations.arms import bases_of
from ablations.registry import load_registry
from gonn_core.features.sets import plane_names
from gonn_core.nets.cost import count_parameters, multiply_adds

REGISTRY = load_registry()


def parameters(config) -> int:
    return count_parameters(config.net, len(plane_names(config.features)))


def test_the_published_net():
    config = REGISTRY.base("go-nn").config
    assert len(plane_names(config.features)) == 21
    assert parameters(config) == 7_051_881
    assert 2 * multiply_adds(config.net, 21) == pytest.approx(4.36e9, rel=0.01)


@pytest.mark.parametrize("base, layers", [("go-nn-8x192", 8), ("go-nn-10x192", 10), ("go-nn-10x192-relu", 10)])
def test_nets_of_the_comments_in_the_code(base, layers):
    """15 planes, 192 channels, 5x5 first and 3x3 in all other layers, a bias at every point (MoveModels.py)."""
    config = REGISTRY.base(base).config
    assert len(plane_names(config.features)) == 15
    kernels = 25 * 15 * 192 + (layers - 2) * 9 * 192**2 + 9 * 192
    assert parameters(config) == kernels + 361 * (192 * (layers - 1) + 1)
    assert config.training.batch_size == 256 and config.training.optimiser.momentum == 0


def test_cards_of_its_own_planes_and_nets_fit_it_alone():
    own = [base.id for base in REGISTRY.bases.values() if base.system == "go_nn"]
    for card in ("go_nn_ones_plane", "go_nn_ko_plane", "go_nn_history"):
        assert bases_of(REGISTRY, REGISTRY.card(card)) == own, card
    for card in ("go_nn_depth", "go_nn_width"):
        assert bases_of(REGISTRY, REGISTRY.card(card)) == ["go-nn"], card
    assert set(bases_of(REGISTRY, REGISTRY.card("go_nn_warm_start"))) <= set(own)
    assert "gonn-b5" not in bases_of(REGISTRY, REGISTRY.card("momentum"))
    assert {"gonn-b5", "go-nn"} <= set(bases_of(REGISTRY, REGISTRY.card("input_normalisation")))


def test_toggles_of_games_cannot_be_paired():
    for card in REGISTRY.cards.values():
        if any(path.startswith("data.games.") for path in card.toggles):
            assert card.pairing == "none", card.id
