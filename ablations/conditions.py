"""What a card requires and excludes, against a base."""

from ablations.schema import Base, Condition, Enhancement
from ablations.study import card_state
from gonn_core.config import with_values
from gonn_core.errors import SettingError


def unmet(registry, card: Enhancement, base: Base) -> str | None:
    """The first condition of `card` that `base` fails, in words; None when it meets all. `registry`: the cards that
    conditions name."""
    for wanted, conditions in ((True, card.requires), (False, card.excludes)):
        for condition in conditions:
            if _met(registry, condition, base) != wanted:
                what = condition.card or f"{condition.path} = {condition.value}"
                return f"{card.id} {'needs' if wanted else 'excludes'} {what}"
    return None


def _met(registry, condition: Condition, base: Base) -> bool:
    if condition.card is not None:
        return card_state(base.config, registry.card(condition.card).on_base(base.id).toggles) == "on"
    try:
        return with_values(base.config, {condition.path: condition.value}) == base.config
    except SettingError:  # of another family of nets
        return False
