"""SEEDS, FUTILITY and CONTROL_SEEDS: the seeds that text names, and the text that names seeds."""

import math
from collections.abc import Sequence

from ablations.study import Thresholds
from gonn_core.errors import SettingError

MOST_SEEDS = 100
VALID = (
    f"a number from 1 to {MOST_SEEDS}, different seeds separated by commas such as 1,2,7, or looks at 4, 8, 12 and 16 "
    "seeds as 4..16"
)
PAIRS = ("add-one", "leave-one-out")
"""Designs in which every card has an arm of its own, compared with one control; such an arm may stop early."""


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


def seeds_text(seeds: Sequence[int], looks: Sequence[int] = ()) -> str:
    """The inverse of `parse_seeds` and `parse_looks`."""
    if looks:
        return f"{looks[0]}..{looks[-1]}"
    if list(seeds) == list(range(1, len(seeds) + 1)):
        return str(len(seeds))
    return ",".join(map(str, seeds)) + "," * (len(seeds) == 1)  # `7` would be seven seeds


def parse_looks(text: str | None, design: str, cards: Sequence) -> tuple[int, ...]:
    """`4..16` -> 4, 8, 12, 16; `4..10` -> 4, 8, 10; empty for text without `..`. Raises SettingError (SEEDS)."""
    if text is None or ".." not in text:
        return ()
    least = Thresholds().min_seeds
    first, _, last = text.partition("..")
    if not (first.isdecimal() and last.isdecimal()):
        raise SettingError("SEEDS", text, "not a number of seeds", VALID)
    low, high = int(first), int(last)
    if not least <= low < high <= MOST_SEEDS:
        problem = f"looks begin at {least} seeds or more and end at more than they begin with"
        raise SettingError("SEEDS", text, problem, f"{least}..6 to {least}..{MOST_SEEDS}, 4..16")
    if design not in PAIRS or not cards:
        problem = "only an arm that belongs to one enhancement can stop"
        raise SettingError("SEEDS", text, problem, "a number of seeds, or DESIGN=add-one or leave-one-out")
    return (*range(low, high, low), high)


def parse_futility(text: str | None, looks: Sequence[int]) -> float | None:
    """Nats. Raises SettingError (FUTILITY)."""
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


def parse_control_seeds(
    text: str | None, seeds: Sequence[int], looks: Sequence[int], design: str, cards: Sequence
) -> tuple[int, ...]:
    """The seeds of the control: `seeds`, and those that CONTROL_SEEDS adds. Raises SettingError (CONTROL_SEEDS)."""
    if text is None:
        return tuple(seeds)
    valid = "a number of seeds, more than SEEDS, or a list that holds those of SEEDS and more"
    more = parse_seeds(text, 0, "CONTROL_SEEDS", valid)
    if design not in PAIRS or not cards:
        problem = "no arm is the control of all others"
        raise SettingError("CONTROL_SEEDS", text, problem, "with DESIGN=add-one or leave-one-out")
    if looks:
        raise SettingError("CONTROL_SEEDS", text, "a control runs as long as any arm", "without looks in SEEDS")
    if not set(more) > set(seeds):
        raise SettingError("CONTROL_SEEDS", text, "not more than the other arms have", valid)
    return (*seeds, *(seed for seed in more if seed not in set(seeds)))
