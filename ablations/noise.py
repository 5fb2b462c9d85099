"""Noise of paired differences as measured by the project, in `noise.yaml`: what a plan shows on a new machine.

`python -m benchmarks.noise` writes the file.
"""

from functools import cache
from math import log
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ablations.schema import Id
from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, parse_model

FILE = Path(__file__).with_name("noise.yaml")
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Noise(Strict):
    """Noise of the difference in test nats between two arms of a base with the same seed."""

    base: Id
    budget: Id
    data: str
    samples: Count
    seed_variance: Positive
    """Nats squared, with `df` degrees of freedom."""
    df: Positive
    evaluation_variance: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Nats squared, on `games` test games: more seeds do not reduce it."""
    games: Count
    studies: Count


class _File(Strict):
    rows: tuple[Noise, ...]


@cache
def load_noise() -> tuple[Noise, ...]:
    """All rows. Raises InputError or SettingError for a damaged file."""
    return parse_model(_File, {"rows": read_yaml(FILE)}, FILE.name).rows


def noise_of(base: str, budget: str, samples: int) -> tuple[Noise, bool] | None:
    """The nearest row, and whether it is of this very base and number of samples: of the base under the budget at the
    nearest number of samples, else of the base with the median noise. None when the budget has no row."""
    rows = [noise for noise in load_noise() if noise.budget == budget]
    of_base = [noise for noise in rows if noise.base == base]
    if of_base:
        nearest = min(of_base, key=lambda noise: abs(log(noise.samples) - log(samples)))
        return nearest, nearest.samples == samples
    ordered = sorted(rows, key=lambda noise: noise.seed_variance)
    return (ordered[len(ordered) // 2], False) if ordered else None
