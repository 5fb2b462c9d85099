"""From a screen's design to the arms that are trained, the contrasts that are taken, and the seeds of each arm."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.designs import ImpossibleDesign, refuse_equal
from ablations.schema import Enhancement
from ablations.screens.flips import Flips
from ablations.screens.fractions import Screen, make_screen
from ablations.study import Arm, Contrast
from gonn_core.errors import SettingError

RUNS_OF_AN_ARM = 2
"""Where RUNS does not say: with single runs noise cannot be told from interactions."""
MOST_SEEDS = 64
BLOCKS = (1, 2, 4)
"""Numbers of seeds over which arms of one seed each can be spread."""


@dataclass(frozen=True)
class ScreenArms:
    """A screen's arms, the base first, and what each card's effect is the difference of.

    half: arms before folding over, as many as the design has; folded: the card by which a second half was added.
    """

    screen: Screen
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    folded: str | None = None

    @property
    def half(self) -> int:
        """Arms of the design itself."""
        return self.screen.arms

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
        each = runs // len(self.arms)
        if len(seeds) not in (BLOCKS if each == 1 else (each,)):
            valid = "1, 2 or 4" if each == 1 else str(each)
            problem = f"{runs} runs are {each} of each of the {len(self.arms)} arms"
            raise SettingError("SEEDS", ",".join(map(str, seeds)), problem, f"{valid} seeds, or other RUNS")
        return {
            arm.id: self.screen.seeds_of(number % self.half, seeds, self.half * each)
            for number, arm in enumerate(self.arms)
        }


def screen_arms(flips: Flips, cards: Sequence[Enhancement], folded: str | None = None) -> ScreenArms:
    """Arms and contrasts of the screen of cards, each of which can be changed alone.

    folded: a card whose sign is reversed in a second half of arms. Raises SettingError (NAME) for cards that make no
    screen or arms that compute the same, an ImpossibleDesign for arms that cannot be, SettingError (FOLD).
    """
    by_id = {card.id: card for card in cards}
    screen = make_screen(
        [card.id for card in cards], lambda one, other: flips.conflict(by_id[one], by_id[other]) is not None
    )
    changed = list(screen.changed)
    fraction_of = list(screen.fraction_of)
    if folded is not None:
        _refuse_fold(screen, folded)
        changed += _folded(screen, folded)
        fraction_of *= 2
    cells = [flips.cell(number, each) for number, each in enumerate(changed, 1)]
    if any(cell.reason for cell in cells):
        raise ImpossibleDesign(cards, cells)
    arms = tuple(flips.arm(cell) for cell in cells)
    refuse_equal(arms, "NAME", "+".join(by_id))
    contrasts = []
    for card, column in screen.columns.items():
        varied = [number for number, fraction in enumerate(fraction_of) if fraction in column.fractions]
        flipped = tuple(arms[number].id for number in varied if card in changed[number])
        kept = tuple(arms[number].id for number in varied if card not in changed[number])
        on_in_base = flips.states[card] == "on"
        contrasts.append(
            Contrast(card=card, with_it=kept if on_in_base else flipped, without=flipped if on_in_base else kept)
        )
    return ScreenArms(screen, arms, tuple(contrasts), folded)


def _folded(screen: Screen, card: str) -> list[frozenset[str]]:
    """What is changed in the second half of arms."""
    return [changed ^ {card} for changed in screen.changed]


def _refuse_fold(screen: Screen, folded: str) -> None:
    """Raises SettingError (FOLD) for a card of which a second half would repeat arms: one that is not varied in every
    arm, or whose interactions are aliased with none of the others' (where removing its column would leave arms that are
    equal, no sum of other columns is its own)."""
    whole = [card for card, column in screen.columns.items() if len(column.fractions) == screen.fractions]
    valid = [card for card in whole if not set(_folded(screen, card)) & set(screen.changed)]
    if folded in valid:
        return
    if folded not in screen.columns:
        problem = "is not screened"
    elif folded not in whole:
        problem = "is varied in a part of the arms only"
    else:
        problem = "its interactions can be told from all others already"
    raise SettingError("FOLD", folded, problem, valid or "none of these")
