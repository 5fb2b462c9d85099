"""What an enhancement is about, by the settings that it changes."""

from collections.abc import Iterable

from ablations.schema import Enhancement

TOPICS = {
    "input": "what the net is shown of a position",
    "block": "the body of the net: layers, blocks, activations, their first weights",
    "head": "from the body to the moves",
    "loss": "what is learned, beside the move too",
    "optimiser": "how weights are changed: rule, momentum, batch, averages",
    "data": "which games and positions, and how they are turned",
    "schedule": "how the learning rate changes over a run",
}
"""Topic -> what it is, in the order of a list."""
BEGINNINGS = {
    "data": "data",
    "data.history": "input",
    "evaluation": "data",
    "features": "input",
    "net": "block",
    "net.conv.head": "head",
    "net.conv.position_bias": "head",
    "net.head": "head",
    "net.residual.output_planes": "head",
    "training": "optimiser",
    "training.auxiliary": "loss",
    "training.loss": "loss",
    "training.mask_illegal": "loss",
    "training.plane_weights": "loss",
    "training.policy_weight": "loss",
    "training.schedule": "schedule",
}
"""Beginning of a setting's path -> its topic; the longest counts."""


def topic_of_setting(path: str) -> str:
    """The topic of a setting such as `net.head.pooling`."""
    return BEGINNINGS[max((start for start in BEGINNINGS if path.startswith(start)), key=len)]


def topic_of(card: Enhancement) -> str:
    """The topic of a card: that of the setting which it names first."""
    return topic_of_setting(next(iter(card.toggles)))


def by_topic(cards: Iterable[Enhancement]) -> dict[str, list[Enhancement]]:
    """Topic -> its cards, in the order of TOPICS; topics without any are left out."""
    found: dict[str, list[Enhancement]] = {topic: [] for topic in TOPICS}
    for card in cards:
        found[topic_of(card)].append(card)
    return {topic: those for topic, those in found.items() if those}
