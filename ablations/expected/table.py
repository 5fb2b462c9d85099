"""The table that ships, `measured.yaml`, and what it says of a net that it does not name."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Annotated

from pydantic import Field

from ablations.schema import Id
from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, parse_model

FILE = Path(__file__).with_name("measured.yaml")
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Rate(Strict):
    """The net of a base under a budget: samples/s of training and positions/s of evaluation, of one core's time."""

    base: Id
    budget: Id
    family: Id
    flops: Annotated[int, Field(ge=1)]
    """Per sample, of a forward pass."""
    samples_per_s: Positive
    positions_per_s: Positive


class Noise(Strict):
    """Of a paired difference in test nats between arms of a base: variance between seeds, with its
    degrees of freedom, and the part that more seeds do not shrink, on so many games."""

    base: Id
    budget: Id
    data: str
    samples: Annotated[int, Field(ge=1)]
    seed_variance: Positive
    df: Positive
    evaluation_variance: Positive
    games: Annotated[int, Field(ge=1)]
    studies: Annotated[int, Field(ge=1)]


class Spread(Strict):
    """How far measured speeds of arms lay from what this table says of them: measured over told, the ends of the
    middle 80 %."""

    low: Positive
    high: Positive
    arms: Annotated[int, Field(ge=1)]


class Expected(Strict):
    """The whole file."""

    machine: str
    """On which it was measured."""
    measured: str
    """The day."""
    reference: Id
    """The base whose speed under the budget `reference_budget` tells how fast another machine is."""
    reference_budget: Id
    spread: Spread
    rates: tuple[Rate, ...]
    noise: tuple[Noise, ...]

    def reference_rate(self) -> Rate:
        """The net that other machines measure to scale the table."""
        return next(rate for rate in self.rates if (rate.base, rate.budget) == (self.reference, self.reference_budget))


@cache
def load_expected() -> Expected:
    """The table. Raises InputError or SettingError for a damaged file."""
    return parse_model(Expected, read_yaml(FILE), f"expected/{FILE.name}")


@dataclass(frozen=True)
class Told:
    """What the table says of a net, on the machine that it was measured on. guessed: by its operations and the nets of
    its family, or of all families, for the base has no row under this budget."""

    samples_per_s: float
    positions_per_s: float
    guessed: bool


def rate_of(table: Expected, base: str, budget: str, family: str, flops: int) -> Told:
    """Speeds of an arm on a base, whose net takes `flops` a sample: those of the base by operations."""
    rows = [rate for rate in table.rates if (rate.base, rate.budget) == (base, budget)]
    guessed = not rows
    rows = rows or [rate for rate in table.rates if rate.family == family] or list(table.rates)
    return Told(_per_operation(rows, "samples_per_s") / flops, _per_operation(rows, "positions_per_s") / flops, guessed)


def _per_operation(rows: Iterable[Rate], name: str) -> float:
    return median(getattr(rate, name) * rate.flops for rate in rows)


def noise_of(table: Expected, base: str, budget: str, samples: int) -> tuple[Noise, bool] | None:
    """The row that is nearest: of the base and budget at the nearest number of samples, else of the budget's other
    bases the one of median noise; whether it is of this very base and number. None where the budget has none."""
    rows = [noise for noise in table.noise if noise.budget == budget]
    own = [noise for noise in rows if noise.base == base]
    if own:
        nearest = min(own, key=lambda noise: abs(_log(noise.samples) - _log(samples)))
        return nearest, nearest.samples == samples
    ordered = sorted(rows, key=lambda noise: noise.seed_variance)
    return (ordered[len(ordered) // 2], False) if ordered else None


def _log(samples: int) -> float:
    from math import log

    return log(samples)
