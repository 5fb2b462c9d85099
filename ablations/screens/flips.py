"""Cards changed from what a configuration has: alone, in pairs, many at once; which of them go together.

A card is changed to what the configuration has not: taken out where it has it, put in where it lacks it.
"""

from collections.abc import Collection, Sequence
from functools import cached_property

from ablations.conditions import card_state
from ablations.designs import DesignCell, arm_of, cell_of, why_equal
from ablations.schema import Enhancement
from ablations.study import Arm
from gonn_core.config import TrialConfig, with_values
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError

STATES_SHOWN = 3
"""So many changed cards are named in an arm's label."""


def with_cards(config: TrialConfig, cards: Sequence[Enhancement]) -> TrialConfig:
    """`config` with cards on. Raises SettingError (HOLD) where it cannot have them, or not all at once."""
    for card in cards:
        try:
            config = with_values(config, card.values("on"), card.id)
        except SettingError as error:
            raise SettingError("HOLD", card.id, error.problem, "enhancements that the base can have") from None
    for card in cards:
        if card_state(config, card.toggles) != "on":
            raise SettingError("HOLD", card.id, "another one of HOLD takes it out", "one of them")
    return config


class Flips:
    """Arms of a base with some of `cards` changed.

    held: cards that are put on in all arms, so that none may be changed that takes one out.
    """

    def __init__(
        self, base_name: str, base: TrialConfig, cards: Sequence[Enhancement], held: Sequence[Enhancement] = ()
    ):
        """Raises SettingError (HOLD) for held cards that cannot be put in."""
        self.unchanged, self.cards, self.held = base, tuple(cards), tuple(held)
        put_in = [card.id for card in held if card_state(base, card.toggles) != "on"]
        self.base = with_cards(base, held)
        self.base_name = f"{base_name} with {', '.join(put_in)}" if put_in else base_name
        self._pairs: dict[frozenset[str], str | None] = {}
        self._alone: dict[str, DesignCell] = {}

    @cached_property
    def states(self) -> dict[str, str]:
        """Card id -> on, off or neither: as the base has it."""
        return {card.id: card_state(self.base, card.toggles) for card in self.cards}

    def cell(self, number: int, changed: Collection[str]) -> DesignCell:
        """Arm of that number (from 1, the base) with these cards changed."""
        cards = [card for card in self.cards if card.id in changed]
        states = {card.id: "off" if self.states[card.id] == "on" else "on" for card in cards}
        signs = [f"{'−' if state == 'off' else '+'} {card}" for card, state in states.items()]
        more = [f"{len(signs) - STATES_SHOWN} more"] if len(signs) > STATES_SHOWN else []
        label = f"run {number}: {', '.join(signs[:STATES_SHOWN] + more)}" if signs else self.base_name
        return cell_of(f"run-{number:02d}", label, self.base, cards, states)

    def arm(self, cell: DesignCell) -> Arm:
        """The arm of a cell that can be; its values are told against the base without what is held."""
        return arm_of(cell, self.unchanged, (*self.cards, *self.held))

    def unfit(self, card: Enhancement) -> str | None:
        """Why a card cannot be changed alone, in words; None when it can, and makes a difference."""
        if self.states[card.id] == "neither":
            return f"{self.base_name} has neither its off nor its on values here"
        cell = self._one(card)
        if cell.config is None or cell.reason:
            return cell.reason
        if effective(cell.config) == effective(self.base):
            return f"its arms {why_equal(self.base, cell.config)}"
        for other in self.held:
            if card_state(cell.config, other.toggles) != "on":
                return f"changes what HOLD={other.id} keeps"
        return None

    def equal(self, card: Enhancement, other: Enhancement) -> bool:
        """Whether two cards that can be changed alone come to the same."""
        one, two = self._one(card).config, self._one(other).config
        assert one is not None and two is not None
        return effective(one) == effective(two)

    def conflict(self, card: Enhancement, other: Enhancement) -> str | None:
        """Why two cards that can be changed alone cannot be changed in one arm, in words; None when they can."""
        pair = frozenset((card.id, other.id))
        if pair not in self._pairs:
            self._pairs[pair] = self._conflict(card, other)
        return self._pairs[pair]

    def _conflict(self, card: Enhancement, other: Enhancement) -> str | None:
        if shared := sorted(set(card.toggles) & set(other.toggles)):
            return f"both change {', '.join(shared)}"
        both = self.cell(1, (card.id, other.id))
        if both.config is None or both.reason:
            return both.reason
        together = effective(both.config)
        for one, idle in ((card, other), (other, card)):
            alone = self._one(one).config
            if alone is not None and together == effective(alone):
                return f"{idle.id} makes no difference where {one.id} is changed"
        return None

    def _one(self, card: Enhancement) -> DesignCell:
        if card.id not in self._alone:
            self._alone[card.id] = self.cell(1, (card.id,))
        return self._alone[card.id]
