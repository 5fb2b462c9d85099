"""A learning-rate search: which configuration, which rates, how many trials. Written down before its first trial.

`Search` is the file `searches/<id>/search.json`. What was asked and found is next to it, in Optuna's journal.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from ablations.schema import RATE, Rate, budget_label
from ablations.study import FORMAT, FolderName, read_file
from gonn_core.config import Strict, TrialConfig, trial_id, with_values
from gonn_core.settings.training import Precision
from gonn_core.trial.job import EvaluationRequest

FIRST_SEED = 1000
"""Seeds of searches start here: a comparison uses others, or its arms would be tuned to the very draws that it is made
on."""
DEFAULT_FACTOR = 30.0
"""Highest over lowest rate that a search tries; ours."""
SPREAD = (0.625, 0.375, 0.875, 0.125)
"""Where in the range, on a logarithmic scale, the first rates of a search lie after the configuration's own."""
LEAST_FACTOR = 10.0
"""The lowest rate that a search tries is at least so far below one that diverged; ours."""


class Pruning(Strict):
    """When a trial is given up: see `orchestration.search.run`. Ours."""

    after: Annotated[float, Field(gt=0, le=1)] = 0.66
    """Share of the samples before which no trial is given up: at a high rate loss falls late, when the schedule
    ends."""
    others: Annotated[int, Field(ge=2)] = 4
    """Finished trials that it takes to judge by."""
    looks: Annotated[int, Field(ge=1)] = 1
    """Bad looks in a row that it takes."""


PRUNING = Pruning(looks=2)
"""Of new searches: one look stopped trials at rates next to the best."""


class Search(Strict):
    """Everything that was decided before the first trial."""

    format: Literal[1] = FORMAT
    id: FolderName
    title: str
    base: str
    budget: str
    data: str
    coverage: str
    config: TrialConfig
    """With the training view, the seed of all trials, and the rate that the net has without a search."""
    rates: tuple[Rate, Rate]
    """Lowest and highest rate tried, unless some diverge (`rates_left`); drawn log-uniformly."""
    trials: Annotated[int, Field(ge=3, le=1000)]
    seed: Annotated[int, Field(ge=FIRST_SEED, lt=2**31)]
    pruning: Pruning
    validation: EvaluationRequest
    """What a finished trial is judged by."""
    precision: Precision | None = None
    """Of all trials, where it is not the budget's own (PRECISION)."""
    created: str
    commit: str
    dirty: bool

    @model_validator(mode="after")
    def _searches_on_validation(self):
        if self.validation.split != "validation":
            raise ValueError("a search looks at validation positions only")
        if self.rates[0] >= self.rates[1]:
            raise ValueError("rates go from low to high")
        return self

    @property
    def budget_label(self) -> str:
        """`cpu`, `cpu-bf16`: the budget's name next to other searches."""
        return budget_label(self.budget, self.precision)

    @property
    def own_rate(self) -> float:
        """The rate of the configuration without a search."""
        return self.config.training.optimiser.learning_rate

    def at(self, rate: float) -> TrialConfig:
        """What a trial at a rate trains."""
        return with_values(self.config, {RATE: rate})


TriedState = Literal["running", "done", "pruned", "diverged", "failed"]


@dataclass(frozen=True)
class Tried:
    """One rate that was asked for, and what became of it."""

    number: int
    rate: float
    state: TriedState
    """running: also when the command that ran it was killed. failed: for a reason that says nothing of the rate."""
    trial: str
    """Trial id."""
    nats: float | None = None
    """On the validation positions of the search, of a trial that is done."""
    points: dict[int, float] = field(default_factory=dict)
    """Samples -> validation nats along the way."""


def rates_left(search: Search, tried: Sequence[Tried]) -> tuple[float, float]:
    """Lowest and highest rate to try next: those of the search, below the lowest that diverged above all finished
    ones."""
    finished = max((each.rate for each in tried if each.state == "done"), default=0.0)
    diverged = [each.rate for each in tried if each.state == "diverged" and each.rate > finished]
    if not diverged:
        return search.rates
    low, high = search.rates
    high = min(high, *diverged)
    return min(low, high / LEAST_FACTOR), high


def rate_range(config: TrialConfig) -> tuple[float, float]:
    """The rates that a search tries: as far below the configuration's as above it on a logarithmic scale,
    DEFAULT_FACTOR from end to end; 3 digits."""
    rate, half = config.training.optimiser.learning_rate, math.sqrt(DEFAULT_FACTOR)
    return rounded(rate / half), rounded(min(100.0, rate * half))


def rounded(rate: float) -> float:
    """A rate with 3 significant digits: as it is printed and adopted."""
    return float(f"{rate:.3g}")


def search_id(name: str, budget: str, data: str, decided: Mapping) -> str:
    """Readable name plus six hex digits over everything that decides what a search finds.

    decided: `config`, a TrialConfig; other models; the rest as JSON has it.
    """
    outcome = {name: value.model_dump() if isinstance(value, BaseModel) else value for name, value in decided.items()}
    outcome["trial"] = trial_id(decided["config"])
    del outcome["config"]
    digest = hashlib.sha256(json.dumps(outcome, sort_keys=True).encode()).hexdigest()[:6]
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", f"lr-{name}-{budget}-{data}") + "-" + digest


def read_search(path: Path) -> Search:
    """The search in a file. Raises InputError for a file of another version or none."""
    return read_file(path, Search)
