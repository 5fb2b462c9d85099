"""What is rehearsed: every base as the budget `gpu` has it, and both arms of every card."""

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple

from ablations.arms import resolve
from ablations.designs import budget_config
from ablations.registry import Registry
from gonn_core.config import TrialConfig, with_values
from gonn_core.effective.whole import effective
from tests.rehearsal.process import Part

FAMILIES = ("gonn", "conv", "encoder", "residual")
PRECISIONS = ("bf16", "fp32")
BUDGET = "gpu"
LAYERS = 2
"""Of encoders in arms of cards: their layers are alike."""


class Named(NamedTuple):
    """A part to rehearse, and whose it is."""

    name: str
    part: Part


def of_bases(registry: Registry) -> list[Named]:
    """All bases whole, in both precisions, at the batch size of a trial."""
    budget = registry.budget(BUDGET)
    samples = budget.samples
    assert isinstance(samples, int)
    return [
        Named(base.id, Part(config=budget_config(base, budget, samples), precision=precision))
        for base in registry.bases.values()
        for precision in PRECISIONS
    ]


def of_cards(registry: Registry, cards: Iterable[str]) -> list[Named]:
    """Off and on of every card, in batches of 2; of those whose net, planes, loss and optimiser are equal the first."""
    found: dict[str, Named] = {}
    for card in cards:
        arms = resolve(registry, card, BUDGET)
        for state, config in (("off", arms.off), ("on", arms.on)):
            config = _shallow(effective(config))
            found.setdefault(
                _computed(config), Named(f"{card} {state}", Part(config=config, batch_size=_batch(config)))
            )
    return list(found.values())


def cards_by_family(registry: Registry) -> dict[str, list[str]]:
    """Net family of a card's base -> its cards, in an order that follows from their names and is none of the
    catalogue's."""
    families: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for card in registry.cards.values():
        families[registry.base(card.base).config.net.family].append(card.id)
    for cards in families.values():
        cards.sort(key=lambda card: hashlib.sha256(card.encode()).digest())
    return families


def _batch(config: TrialConfig) -> int:
    return 2 * config.training.batch_splits


def _shallow(config: TrialConfig) -> TrialConfig:
    few = config.net.family == "encoder" and config.net.encoder.layers > LAYERS
    return with_values(config, {"net.encoder.layers": LAYERS}) if few else config


def _computed(config: TrialConfig) -> str:
    """What of a configuration decides which operations run."""
    training = config.training.model_dump(mode="json", exclude={"init_seed", "data_seed", "samples"})
    training["optimiser"].pop("learning_rate")
    training["schedule"] = training["schedule"]["kind"]
    net, features = config.net.model_dump(mode="json"), config.features.model_dump(mode="json")
    return json.dumps([net, features, training], sort_keys=True)
