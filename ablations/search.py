"""A learning-rate search: which configuration, which rates, how many trials. Written down before its first trial.

`Search` is the file `searches/<id>/search.json`. What was asked and found stands beside it, in Optuna's journal.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from ablations.schema import RATE, Base, Rate, budget_label
from ablations.study import FolderName
from gonn_core.config import Strict, TrialConfig, parse_model, trial_id, with_values
from gonn_core.errors import Damaged, InputError, SettingError, printable_tree
from gonn_core.files.json_files import read_json
from gonn_core.settings.training import Precision
from gonn_core.trial.job import EvaluationRequest

FORMAT: Final = 1
FIRST_SEED = 1000
"""Seeds of searches start here: a comparison uses others, or its arms would be tuned to the very draws that it is made
on."""
DEFAULT_FACTOR = 30.0
"""Highest over lowest rate where a base states no range; ours."""


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
    """Lowest and highest rate tried; drawn log-uniformly."""
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
        """`cpu`, `cpu-bf16`: what the budget is called beside other searches."""
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


def default_range(rate: float) -> tuple[float, float]:
    """Rates around `rate`, as far below it as above on a logarithmic scale, DEFAULT_FACTOR from end to end; 3
    digits."""
    reach = math.sqrt(DEFAULT_FACTOR)
    return rounded(rate / reach), rounded(min(100.0, rate * reach))


def rate_range(base: Base, budget: str, config: TrialConfig) -> tuple[float, float]:
    """The rates that a search tries: the base's own for this budget, else the default around the configuration's
    rate."""
    return base.rates.get(budget) or default_range(config.training.optimiser.learning_rate)


def rounded(rate: float) -> float:
    """A rate with 3 significant digits: as a search tells it and as it is adopted."""
    return float(f"{rate:.3g}")


def search_id(name: str, budget: str, data: str, decided: Mapping) -> str:
    """Readable name plus six hex digits over everything that decides what a search finds.

    decided: `config`, a TrialConfig; `validation` and `pruning`, models; the rest as JSON has it.
    """
    config, validation, pruning = decided["config"], decided["validation"], decided["pruning"]
    rest = {key: value for key, value in decided.items() if key not in ("config", "validation", "pruning")}
    outcome = {
        **rest,
        "trial": trial_id(config),
        "validation": validation.model_dump(),
        "pruning": pruning.model_dump(),
    }
    digest = hashlib.sha256(json.dumps(outcome, sort_keys=True).encode()).hexdigest()[:6]
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", f"lr-{name}-{budget}-{data}") + "-" + digest


def read_search(path: Path) -> Search:
    """The search in a file. Raises InputError for a file of another version or none, and for one whose trials this
    version would give other ids."""
    tree = read_json(path)
    if not isinstance(tree, dict):
        raise Damaged(path, "holds no mapping")
    if tree.get("format") != FORMAT:
        version = tree.get("format")
        raise InputError(path, f"search file of format {version}; this version reads format {FORMAT}")
    if printable_tree(tree) != tree:
        raise Damaged(path, "a search file with control characters, which none of ours has")
    return parse_model(Search, tree, str(path))


def check_seed(seed: int) -> None:
    """Raises SettingError (SEED) for one that comparisons use."""
    if seed < FIRST_SEED:
        raise SettingError("SEED", seed, "seeds of a search are not those of a comparison", f"{FIRST_SEED} or more")
