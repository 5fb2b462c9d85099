"""The seed noise of other studies that a study is judged with, kept from its first complete report on.

noise.json    {"format": 1, "when": "2026-01-02T…", "commit": "…", "studies": ["<id>", …], "evaluation_variance": 1e-6,
               "differences": {"<card> of <study>": {"weights": {"<arm>": 1.0, …}, "by_seed": {"1": -0.0123, …}}, …}}

Without it the studies that happen to lie in a workspace when a report is made would decide on the verdict.
"""

import math
from dataclasses import replace
from pathlib import Path

from gonn_core.errors import InputError, printable
from gonn_core.files.json_files import read_record, write_json
from reports.results.seed_pool import PriorNoise
from reports.stats.seed_noise import Differences

NOISE_FILE = "noise.json"
FORMAT = 1
_KEYS = ("when", "commit", "studies", "evaluation_variance", "differences")


def judged_with(study_folder: Path, today: PriorNoise) -> PriorNoise:
    """The noise that a study is judged with: that of its file, which then knows `today`'s beside it; without a file
    today's. Raises InputError for a damaged file."""
    frozen = read_pool(study_folder)
    return today if frozen is None else replace(frozen, today=today)


def read_pool(study_folder: Path) -> PriorNoise | None:
    """What the file of a study holds, None where there is none. Raises InputError for one that is damaged."""
    path = study_folder / NOISE_FILE
    tree = read_record(path, FORMAT, _KEYS)
    if tree is None:
        return None
    try:
        variance = tree["evaluation_variance"]
        pool = PriorNoise(
            differences={
                printable(name, 300): Differences(
                    {int(seed): _finite(value) for seed, value in each["by_seed"].items()},
                    {printable(arm, 100): _finite(weight) for arm, weight in each["weights"].items()},
                )
                for name, each in tree["differences"].items()
            },
            evaluation_variance=None if variance is None else _finite(variance),
            studies=tuple(printable(study, 200) for study in tree["studies"]),
            since=printable(tree["when"], 40),
        )
        if any(len(each.weights) < 2 or not each.by_seed for each in pool.differences.values()):
            raise ValueError("a difference without arms or seeds")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        text = printable(f"{type(error).__name__}: {error}", 200)
        raise InputError(path, f"damaged ({text}); remove it to judge the study with today's seed noise") from None
    return pool


def _finite(value) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(f"{value!r} is no finite number")
    return number


def write_pool(study_folder: Path, pool: PriorNoise, when: str, commit: str) -> None:
    """Keep what a study is judged with. Raises InputError when the disk does not take it."""
    differences = {
        name: {
            "weights": {arm: float(weight) for arm, weight in each.weights.items()},
            "by_seed": {str(seed): float(value) for seed, value in each.by_seed.items()},
        }
        for name, each in pool.differences.items()
    }
    write_json(
        study_folder / NOISE_FILE,
        {
            "format": FORMAT,
            "when": when,
            "commit": commit,
            "studies": list(pool.studies),
            "evaluation_variance": pool.evaluation_variance,
            "differences": differences,
        },
    )
