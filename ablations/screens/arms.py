"""Arms of a screen: cards changed from what a configuration has, the contrasts that are taken, the seeds of each arm.

A card is changed to the other state: taken out where the configuration has it, put in where it lacks it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from ablations.designs import DesignCell, arms_of, card_state, cell_of, why_equal
from ablations.schema import Enhancement
from ablations.screens.fractions import Screen, make_screen
from ablations.study import Arm, Contrast
from gonn_core.config import TrialConfig, with_values
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError

STATES_SHOWN = 3
"""So many changed cards are named in an arm's label."""
RUNS_OF_AN_ARM = 2
"""Where RUNS does not say: with single runs noise cannot be separated from interactions."""
MOST_SEEDS = 64
BLOCKS = (1, 2, 4)
"""Numbers of seeds over which arms of one seed each can be spread."""


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

    def arms(self, cells: Sequence[DesignCell]) -> tuple[Arm, ...]:
        """The arms of cells; their values are against the base without what is held. Raises SettingError (NAME)."""
        return arms_of(cells, self.unchanged, (*self.cards, *self.held))

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


@dataclass(frozen=True)
class ScreenArms:
    """A screen's arms, the base first, and the contrast of each card. folded: the card by which a second half was
    added."""

    screen: Screen
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    folded: str | None = None

    def runs_of(self, runs: int | None) -> int:
        """The number of runs that was asked for, or the usual one. Raises SettingError (RUNS)."""
        valid = [len(self.arms) << doubled for doubled in range(MOST_SEEDS.bit_length())]
        if runs is None:
            return RUNS_OF_AN_ARM * len(self.arms)
        if runs not in valid:
            problem = f"the screen has {len(self.arms)} arms"
            raise SettingError("RUNS", runs, problem, f"{', '.join(map(str, valid[:4]))}, …")
        return runs

    def usual_seeds(self, runs: int) -> int:
        """Number of seeds where none is given; single runs are split between two."""
        return max(2, runs // len(self.arms))

    def seeds_of(self, runs: int, seeds: Sequence[int]) -> dict[str, tuple[int, ...]]:
        """Arm -> the seeds with which it is trained. Raises SettingError (SEEDS) for a number of seeds that these runs
        have no use for."""
        of_arm, half = runs // len(self.arms), self.screen.arms
        if len(seeds) not in (BLOCKS if of_arm == 1 else (of_arm,)):
            valid = "1, 2 or 4" if of_arm == 1 else str(of_arm)
            problem = f"{runs} runs are {of_arm} of each of the {len(self.arms)} arms"
            raise SettingError("SEEDS", ",".join(map(str, seeds)), problem, f"{valid} seeds, or other RUNS")
        numbered = enumerate(self.arms)
        return {arm.id: self.screen.seeds_of(number % half, seeds, half * of_arm) for number, arm in numbered}


def screen_arms(flips: Flips, cards: Sequence[Enhancement], folded: str | None = None) -> ScreenArms:
    """Arms and contrasts of the screen of cards, each of which can be changed alone.

    folded: a card whose sign is reversed in a second half of arms. Raises SettingError (NAME) for cards that make no
    screen and arms that cannot be or compute the same, SettingError (FOLD).
    """
    by_id = {card.id: card for card in cards}
    screen = make_screen(
        [card.id for card in cards], lambda one, other: flips.conflict(by_id[one], by_id[other]) is not None
    )
    changed = list(screen.changed)
    fraction_of = list(screen.fraction_of)
    if folded is not None:
        whole = [card for card, column in screen.columns.items() if len(column.fractions) == screen.fractions]
        valid = [card for card in whole if not {arm ^ {card} for arm in screen.changed} & set(screen.changed)]
        if folded not in valid:  # its second half would repeat arms, or not reverse its sign in all of them
            problem = "is not screened" if folded not in screen.columns else "is varied in a part of the arms only"
            if folded in whole:
                problem = "its interactions are separate from all others already"
            raise SettingError("FOLD", folded, problem, valid or "none of these")
        changed += [arm ^ {folded} for arm in changed]
        fraction_of *= 2
    arms = flips.arms([flips.cell(number, cards) for number, cards in enumerate(changed, 1)])
    contrasts = []
    for card, column in screen.columns.items():
        varied = [number for number, fraction in enumerate(fraction_of) if fraction in column.fractions]
        on_in_base = flips.states[card] == "on"
        sides: dict[bool, list[str]] = {True: [], False: []}
        for number in varied:
            sides[(card in changed[number]) != on_in_base].append(arms[number].id)
        contrasts.append(Contrast(card=card, with_it=tuple(sides[True]), without=tuple(sides[False])))
    return ScreenArms(screen, arms, tuple(contrasts), folded)
