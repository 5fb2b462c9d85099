"""What SEEDS, FUTILITY and CONTROL_SEEDS ask for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gonn_core.errors import SettingError
from reports.stats.verdicts import Thresholds

MOST_SEEDS = 100
VALID = (
    f"a number from 1 to {MOST_SEEDS}, different seeds separated by commas such as 1,2,7, or looks at 4, 8, 12 and 16 "
    "seeds as 4..16"
)
PAIRS = ("add-one", "leave-one-out")
"""Designs in which every card has an arm of its own, which may stop, beside one control."""


@dataclass(frozen=True)
class AskedSeeds:
    """Seeds of a study. each: of every arm, to its last look; looks: how many at each, empty: one look, at all of them;
    futility: nats, None: nothing stops for being small; control: seeds of the control, in addition."""

    each: tuple[int, ...]
    looks: tuple[int, ...] = ()
    futility: float | None = None
    control: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """As it is typed."""
        alone = "," * (len(self.each) == 1 and self.each != (1,))  # `7` would be seven seeds
        return f"{self.looks[0]}..{self.looks[-1]}" if self.looks else ",".join(map(str, self.each)) + alone


def parse_seeds(text: str | None, default: int, name: str = "SEEDS", valid: str = VALID) -> tuple[int, ...]:
    """`4` -> 1, 2, 3, 4; `1,2,7` -> those; `7,` -> 7 alone. Raises SettingError (SEEDS)."""
    if text is None:
        return tuple(range(1, default + 1))
    parts = [part.strip() for part in text.removesuffix(",").split(",")]
    numbers = [int(part) for part in parts if part.isdecimal()]
    if "," not in text and numbers and 1 <= numbers[0] <= MOST_SEEDS:
        return tuple(range(1, numbers[0] + 1))
    if "," not in text or len(set(numbers)) < len(parts) or max(numbers) >= 2**31:
        raise SettingError(name, text, "not a number of seeds", valid)
    return tuple(numbers)


def parse_looks(text: str) -> tuple[int, ...]:
    """`4..16` -> 4, 8, 12, 16; `4..10` -> 4, 8, 10. Raises SettingError (SEEDS)."""
    least = Thresholds().min_seeds
    first, _, last = text.partition("..")
    if not (first.isdecimal() and last.isdecimal()):
        raise SettingError("SEEDS", text, "not a number of seeds", VALID)
    low, high = int(first), int(last)
    if not least <= low < high <= MOST_SEEDS:
        problem = f"looks begin at {least} seeds or more and end at more than they begin with"
        raise SettingError("SEEDS", text, problem, f"{least}..6 to {least}..{MOST_SEEDS}, 4..16")
    return (*range(low, high, low), high)


def asked_seeds(
    seeds: str | None, futility: str | None, control: str | None, default: int, design: str, cards: Sequence
) -> AskedSeeds:
    """The three settings together, of a study of a design, with these cards. Raises SettingError."""
    looks = parse_looks(seeds) if seeds and ".." in seeds else ()
    if looks and (design not in PAIRS or not cards):
        problem = "only an arm that belongs to one enhancement can stop"
        raise SettingError("SEEDS", seeds, problem, "a number of seeds, or DESIGN=add-one or leave-one-out")
    each = tuple(range(1, looks[-1] + 1)) if looks else parse_seeds(seeds, default)
    return AskedSeeds(each, looks, _futility(futility, looks), _control(control, each, looks, design, cards))


def _futility(text: str | None, looks: Sequence[int]) -> float | None:
    if text is None:
        return None
    try:
        nats = float(text)
    except ValueError:
        nats = math.nan
    if not 0 < nats < math.inf:
        raise SettingError("FUTILITY", text, "not a size of effects", "nats such as 0.02")
    if not looks:
        raise SettingError("FUTILITY", text, "there are no looks at which an arm could stop", "with SEEDS=4..16")
    return nats


def _control(
    text: str | None, each: Sequence[int], looks: Sequence[int], design: str, cards: Sequence
) -> tuple[int, ...]:
    if text is None:
        return ()
    valid = "a number of seeds, more than SEEDS, or a list that holds those of SEEDS and more"
    seeds = parse_seeds(text, 0, "CONTROL_SEEDS", valid)
    if design not in PAIRS or not cards:
        problem = "no arm is the control of all others"
        raise SettingError("CONTROL_SEEDS", text, problem, "with DESIGN=add-one or leave-one-out")
    if looks:
        raise SettingError("CONTROL_SEEDS", text, "a control goes on as long as any arm", "without looks in SEEDS")
    if not set(seeds) > set(each):
        raise SettingError("CONTROL_SEEDS", text, "not more than the other arms have", valid)
    return tuple(seed for seed in seeds if seed not in set(each))
