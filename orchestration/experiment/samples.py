"""SAMPLES: a study at other numbers of samples than its budget's, the rate falling to its end within each of them."""

import math
import re
from collections.abc import Sequence

from ablations.designs import COMPRESSIBLE
from ablations.schema import Base, Budget, Enhancement
from gonn_core.errors import SettingError

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kM]?)")
_SIZES = {"": 1, "k": 1_000, "M": 1_000_000}
_BATCH, _WARMUP, _KIND = "training.batch_size", "training.schedule.warmup", "training.schedule.kind"


def parse_samples(text: str) -> tuple[int, ...]:
    """`25k,50k,0.1M` -> 25,000, 50,000, 100,000, rising. Raises SettingError (SAMPLES)."""
    numbers = [number for part in text.split(",") if (number := _number(part.strip()))]
    if len(numbers) < len(text.split(",")) or len(set(numbers)) < len(numbers):
        valid = "numbers of samples separated by commas, each once, such as 25k,50k,100k or 1.5M"
        raise SettingError("SAMPLES", text, "not numbers of samples", valid)
    return tuple(sorted(numbers))


def _number(text: str) -> int:
    """0 for what is no whole number of samples."""
    parts = _NUMBER.fullmatch(text)
    samples = float(parts[1]) * _SIZES[parts[2]] if parts else 0.0
    return int(samples) if samples == int(samples) and samples <= 10**12 else 0


def budget_at(budget: Budget, base: Base, cards: Sequence[Enhancement], own: int, samples: int) -> Budget:
    """`budget` with `samples`, cut to whole batches, in place of its `own`; the budget as it is where they are those.

    All else stays. The rate ends within the samples: a linear schedule does so by itself, one that counts published
    samples is run through in these, as a budget that compresses does. Raises SettingError (SAMPLES).
    """
    overrides, training = base.overrides(budget), base.config.training
    batches = {overrides.get(_BATCH, training.batch_size)}
    toggled = [card.toggles[_BATCH] for card in cards if _BATCH in card.toggles]
    batches |= {size for toggle in toggled for size in (toggle.off, toggle.on)}
    whole = samples - samples % math.lcm(*batches)
    if whole == own - own % math.lcm(*batches):
        return budget
    least = max(1, overrides.get(_WARMUP, training.schedule.warmup))
    if whole < least:
        raise SettingError("SAMPLES", samples, f"{base.id} warms up over {least:,} samples", "more than that")
    compress = budget.compress or overrides.get(_KIND, training.schedule.kind) in COMPRESSIBLE
    return budget.model_copy(update={"samples": whole, "compress": compress})
