"""What is asked for: the settings of one study, as the command line gives them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ablations.designs import COMPRESSIBLE
from ablations.schema import Base, Budget, Enhancement
from ablations.strict_yaml import parse_yaml
from gonn_core.errors import InputError, SettingError
from gonn_core.settings.training import Precision
from gonn_core.training.compiling import Compile

Device = Literal["auto", "cpu", "cuda"]
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kM]?)")
_SIZES = {"": 1, "k": 1_000, "M": 1_000_000}
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
    numbers = [number for part in text.split(",") if (number := _number(part.strip()))]
    if len(numbers) < len(text.split(",")) or len(set(numbers)) < len(numbers):
        valid = "numbers of samples separated by commas, each once, such as 25k,50k,100k or 1.5M"
        raise SettingError("SAMPLES", text, "not numbers of samples", valid)
    return tuple(sorted(numbers))


def _number(text: str) -> int:
    """0 for text that is no whole number of samples."""
    parts = _NUMBER.fullmatch(text)
    samples = float(parts[1]) * _SIZES[parts[2]] if parts else 0.0
    return int(samples) if samples == int(samples) and samples <= 10**12 else 0


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
