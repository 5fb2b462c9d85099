"""Every card and every base that is declared: their nets build and count. No card is known here by its name."""

import pytest

from ablations.arms import resolve
from ablations.registry import load_registry
from gonn_core.features.sets import plane_names
from gonn_core.nets.cost import count_parameters, multiply_adds

REGISTRY = load_registry()


def parameters(config) -> int:
    """Of the policy's net, from its shapes alone."""
    return count_parameters(config.net, len(plane_names(config.features)))


@pytest.mark.parametrize("card", REGISTRY.cards)
def test_both_arms_of_every_card_build_and_count(card):
    arms = resolve(REGISTRY, card, "cpu")
    assert arms.off != arms.on
    assert parameters(arms.off) > 0 and parameters(arms.on) > 0
    assert multiply_adds(arms.on.net, len(plane_names(arms.on.features))) > 0


@pytest.mark.parametrize("base", REGISTRY.bases)
def test_every_base_as_published_has_its_count(base):
    declared = REGISTRY.base(base)
    count = parameters(declared.config)
    assert count == declared.parameters or declared.parameters is None and count > 50_000
