"""Records (rules: records/README.md): a recipe, the row that it got, and what the rows show."""

import math
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

from pydantic import Field, model_validator

from ablations.schema import Id, Text
from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, parse_model
from gonn_core.errors import SettingError
from gonn_core.files.json_files import read_json

RECORDS = Path(__file__).resolve().parents[1] / "records"
ROWS, NOISE = RECORDS / "rows", RECORDS / "noise.yaml"
RULES = "1.0"
"""Version of the rules; rows of one version are comparable."""
Z = 1.645
"""One-sided, 5 %."""
SMALL = 100_000
"""Parameters below which a net is in the second table."""
DATA, TESTS = "kgs", 954_188
"""Data set of the rules, and its test positions: all of KGS 2015."""
Share = Annotated[float, Field(gt=0, lt=1)]


class Recipe(Strict):
    """What is trained: committed before its test games are evaluated, once."""

    rules: Text
    title: Text
    base: Text
    """Under the budget cpu; or a YAML file in records/."""
    data: Text
    samples: Annotated[int, Field(ge=1)]
    values: dict[str, Any] = {}
    """Config path -> value, where it is not the base's."""
    seeds: Annotated[tuple[int, ...], Field(min_length=3)]
    """Declared beforehand; all of them are in the row."""
    target: Share
    """Top-1."""
    symmetries: bool = False
    """Whether its nets are evaluated a second time, by their policy averaged over the eight symmetries."""
    found_by: tuple[Text, ...] = ()
    """Studies, by their ids, whose trials were the search for it; rows, by their names, that it improves."""


class Noise(Strict):
    """Of runs of one configuration, which decides what a row shows."""

    top1: Share
    """Standard deviation of a run."""
    runs: Annotated[int, Field(ge=20)]
    per_decade: Share
    """By how much top-1 rises with ten times the operations."""
    source: Text


class Row(Strict):
    """A recipe's result. By seed, in the recipe's order, where there are several numbers."""

    recipe: Recipe
    top1: tuple[Share, ...]
    averaged: tuple[Share, ...] = ()
    """Top-1 of the second evaluation; none unless the recipe has one."""
    nats: tuple[float, ...]
    operations: float
    """Of training one net."""
    search_operations: float | None = None
    """Of all trials of `found_by`; null: not counted."""
    parameters: int
    seconds: float
    """Of training one net: CPU seconds on a CPU, elapsed ones on a GPU."""
    processor: Text
    commit: Text
    test: Text
    """Digest of the test positions, all of the data set's test games."""
    positions: int
    digests: tuple[tuple[Text, ...], ...]
    """Of the weights after 1 % and 10 % of the samples."""
    predecessor: Id | None = None
    """The row that it challenges."""
    note: Text | None = None

    @model_validator(mode="after")
    def _has_all_seeds(self):
        by_seed = (self.top1, self.averaged or self.top1, self.nats, self.digests)
        if any(len(values) != len(self.recipe.seeds) for values in by_seed):
            raise ValueError("a number of top1, nats and digests for each seed of the recipe")
        return self

    @property
    def accuracy(self) -> float:
        """Mean top-1."""
        return mean(self.top1)


def reaches(row: Row, noise: Noise) -> bool:
    """Rules 2 and 3: whether the mean over all of KGS 2015 lies so far above the target that chance would bring it
    there in 5 % at most."""
    if (row.recipe.data, row.positions) != (DATA, TESTS):
        return False
    return (row.accuracy - row.recipe.target) * len(row.top1) ** 0.5 >= Z * noise.top1


def compute_multiplier(row: Row, other: Row, noise: Noise) -> tuple[float, float, float]:
    """Rule 4: times how many of a row's operations another recipe needs to be as accurate, with the ends of its 90 %
    interval. Both of the same test positions."""
    decades = math.log10(other.operations / row.operations) + (row.accuracy - other.accuracy) / noise.per_decade
    half = Z * noise.top1 * (1 / len(row.top1) + 1 / len(other.top1)) ** 0.5 / noise.per_decade
    return 10**decades, 10 ** (decades - half), 10 ** (decades + half)


def read_rows(folder: Path = ROWS) -> dict[str, Row]:
    """Name -> row, by name. Raises InputError, SettingError."""
    return {path.stem: parse_model(Row, read_json(path), path.name) for path in sorted(folder.glob("*.json"))}


def noise_of(path: Path = NOISE) -> Noise | None:
    """The committed noise; None where there is none yet."""
    return parse_model(Noise, read_yaml(path), path.name) if path.is_file() else None


def record_tables(rows: Mapping[str, Row], noise: Noise | None) -> str:
    """The generated part of records/README.md: rows for each target, the fewest operations first, and small nets."""
    parts = []
    for target in sorted({row.recipe.target for row in rows.values()}):
        chosen = {name: row for name, row in rows.items() if row.recipe.target == target}
        parts += [f"### {100 * target:g} %", _table(chosen, rows, noise, lambda row: row.operations)]
    small = {name: row for name, row in rows.items() if row.parameters < SMALL}
    parts += [f"### Nets of fewer than {SMALL:,} parameters", _table(small, rows, noise, lambda row: -row.accuracy)]
    return "\n\n".join(parts) + "\n"


def _table(chosen: Mapping[str, Row], rows: Mapping[str, Row], noise: Noise | None, order) -> str:
    if not chosen:
        return "No row yet."
    heads = (
        "row",
        "top-1 (n)",
        "over symmetries",
        "nats",
        "operations",
        "with search",
        "samples",
        "parameters",
        "seconds",
        "processor",
    )
    lines = [heads, ("---",) * len(heads)]
    for name, row in sorted(chosen.items(), key=lambda item: order(item[1])):
        mark = "" if noise is None else " ✓" if reaches(row, noise) else " ✗"
        if row.predecessor is not None and row.predecessor not in rows:
            raise SettingError("predecessor", row.predecessor, "no such row", list(rows))
        other = rows.get(row.predecessor or "")
        against = ""
        if other and noise and other.test != row.test:
            against = f"; not better than {row.predecessor}: other test positions"
        elif other and noise:
            times, low, high = compute_multiplier(row, other, noise)
            against = f"; × {times:.2g} [{low:.2g}, {high:.2g}] against {row.predecessor}"
            against += ": not better" if low <= 1 else ""
        averaged = f"{100 * mean(row.averaged):.2f} %" if row.averaged else "–"
        search = "–" if row.search_operations is None else f"{row.search_operations:.2g}"
        lines.append((
            f"[{name}](rows/{name}.json): {row.recipe.title}{against}",
            f"{100 * row.accuracy:.2f} % ({len(row.top1)}){mark}", averaged, f"{mean(row.nats):.4f}",
            f"{row.operations:.3g}", search, f"{row.recipe.samples:,}", f"{row.parameters:,}", f"{row.seconds:,.0f}",
            row.processor,
        ))  # fmt: skip
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
