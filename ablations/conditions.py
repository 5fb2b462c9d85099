"""Whether a configuration has a card on or off, and whether it meets what a card requires and excludes."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ablations.declarations import Declarations, find
from ablations.schema import Base, Enhancement, toggle_values
from gonn_core.config import TrialConfig, can_have, has_values


def card_state(config: TrialConfig, toggles: Mapping[str, Any]) -> Literal["on", "off", "neither"]:
    """Whether a configuration stands at a card's on values, at its off values, or at neither; neither, too, where it
    cannot have the others, being of another family of nets or set of planes."""
    if has_values(config, toggle_values(toggles, "on")):
        return "on" if can_have(config, toggle_values(toggles, "off")) else "neither"
    if has_values(config, toggle_values(toggles, "off")):
        return "off" if can_have(config, toggle_values(toggles, "on")) else "neither"
    return "neither"


def unmet_condition(card, config: TrialConfig, has_card: Callable[[str], bool | None]) -> str | None:
    """The first condition of `card` (an object with id, and perhaps requires and excludes) that a configuration fails,
    in words; None when it meets all.

    has_card: whether a card that a condition names is on; None where that is not for this question.
    """
    for verb, conditions, wanted in (
        ("needs", getattr(card, "requires", ()), True),
        ("excludes", getattr(card, "excludes", ()), False),
    ):
        for condition in conditions:
            if condition.card is not None:
                if has_card(condition.card) not in (wanted, None):
                    return f"{card.id} {verb} {condition.card}"
            elif has_values(config, {condition.path: condition.value}) != wanted:
                return f"{card.id} {verb} {condition.path} = {condition.value}"
    return None


def unmet(declared: Declarations, card: Enhancement, base: Base) -> str | None:
    """The first condition of `card` that `base` fails, in words; None when it meets all."""

    def has_card(name: str) -> bool:
        other = find(declared.cards, f"{card.id}.requires or excludes", name, "no such enhancement")
        return card_state(base.config, other.on_base(base.id).toggles) == "on"

    return unmet_condition(card, base.config, has_card)
