"""The settings of one study as the command line gives them, and the readers of their texts."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ablations.designs import COMPRESSIBLE
from ablations.schema import Base, Budget, Enhancement
from ablations.strict_yaml import parse_yaml
from ablations.study import Thresholds
from gonn_core.errors import InputError, SettingError
from gonn_core.settings.training import Precision
from gonn_core.training.compiling import Compile

Device = Literal["auto", "cpu", "cuda"]
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kM]?)")
_SIZES = {"": 1, "k": 1_000, "M": 1_000_000}
MOST_SEEDS = 100
VALID_SEEDS = (
    f"a number from 1 to {MOST_SEEDS}, different seeds separated by commas such as 1,2,7, or looks at 4, 8, 12 and 16 "
    "seeds as 4..16"
)
PAIRS = ("add-one", "leave-one-out")
"""Designs in which every card has an arm of its own, compared with one control; such an arm may stop early."""
_BATCH, _WARMUP, _KIND = "training.batch_size", "training.schedule.warmup", "training.schedule.kind"


@dataclass(frozen=True)
class Request:
    """The settings of a study (`ablations.settings`); None: not given."""

    name: str | None = None
    """Enhancements; None: the base is trained alone."""
    data: str = "starter"
    data_dir: Path | None = None
    budget: str = "cpu"
    seeds: str | None = None
    base: str | None = None
    design: str = "add-one"
    device: Device = "auto"
    compile: Compile = "none"
    lr: str | None = None
    claim: str | None = None
    runs: int | None = None
    hold: str | None = None
    fold: str | None = None
    futility: str | None = None
    control_seeds: str | None = None
    precision: Precision | None = None
    samples: str | None = None
    """Of several numbers, `at_each_number` makes a request for each."""
    first_look: str = "yes"
    values: tuple[str, ...] = ()
    """`PATH=VALUE`: settings of the base that are changed (`gonn train --set`)."""
    is_first_look: bool = False
    """Whether this is the small study that precedes another (`orchestration.study.first_look`)."""


def at_each_number(request: Request) -> tuple[Request, ...]:
    """A request for each of the numbers of samples that one names. Raises SettingError (SAMPLES)."""
    if request.samples is None:
        return (request,)
    return tuple(replace(request, samples=str(number)) for number in parse_samples(request.samples))


def parse_samples(text: str) -> tuple[int, ...]:
    """`25k,50k,0.1M` -> 25,000, 50,000, 100,000, rising. Raises SettingError (SAMPLES)."""
    parts = [_NUMBER.fullmatch(part.strip()) for part in text.split(",")]
    numbers = {float(part[1]) * _SIZES[part[2]] for part in parts if part}
    if len(numbers) < len(parts) or not all(1 <= number <= 10**12 and number.is_integer() for number in numbers):
        valid = "numbers of samples separated by commas, each once, such as 25k,50k,100k or 1.5M"
        raise SettingError("SAMPLES", text, "not numbers of samples", valid)
    return tuple(sorted(map(int, numbers)))


def budget_at(budget: Budget, base: Base, cards: Sequence[Enhancement], declared: int, samples: int) -> Budget:
    """`budget` with `samples`, cut to whole batches, in place of the `declared` ones; unchanged where both are equal.

    The rate ends within the samples: a linear schedule does so by itself, one that counts published samples is
    compressed. Raises SettingError (SAMPLES).
    """
    overrides, training = base.overrides(budget), base.config.training
    batches = {overrides.get(_BATCH, training.batch_size)}
    toggled = [card.toggles[_BATCH] for card in cards if _BATCH in card.toggles]
    batches |= {size for toggle in toggled for size in (toggle.off, toggle.on)}
    whole = samples - samples % math.lcm(*batches)
    if whole == declared - declared % math.lcm(*batches):
        return budget
    least = max(1, overrides.get(_WARMUP, training.schedule.warmup))
    if whole < least:
        raise SettingError("SAMPLES", samples, f"{base.id} warms up over {least:,} samples", f"{least:,} or more")
    compress = budget.compress or overrides.get(_KIND, training.schedule.kind) in COMPRESSIBLE
    return budget.model_copy(update={"samples": whole, "compress": compress})


def parse_values(settings: Sequence[str]) -> dict:
    """`("net.activation=relu",)` -> {"net.activation": "relu"}; values are read like a card's. Raises SettingError."""
    values = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals:
            raise SettingError("--set", setting, "not a setting", "PATH=VALUE such as net.activation=relu")
        try:
            values[path] = parse_yaml(text, path)
        except InputError:
            raise SettingError(f"--set {path}", text, "not a YAML value") from None
    return values


def parse_seeds(text: str | None, default: int, name: str = "SEEDS", valid: str = VALID_SEEDS) -> tuple[int, ...]:
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
        raise SettingError("SEEDS", text, "not a number of seeds", VALID_SEEDS)
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
