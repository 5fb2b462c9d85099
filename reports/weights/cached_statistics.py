"""Named statistics of trials' weights, kept: a report over many studies would read and build hundreds of nets for a few
numbers of each."""

import json
from collections.abc import Callable
from pathlib import Path

from gonn_core.config import TrialConfig
from reports.results.study_results import TrialResult
from reports.weights.cache import code_of, core_code, keep, kept_path, read_kept, torch_version, weights_key
from reports.weights.statistics import last_snapshot, snapshot_weights, statistic, untrained_weights


def trained_statistic(name: str, trial: TrialResult, folder: Path | None) -> dict[str, float]:
    """Layer -> value of the final weights. `folder`: where it is kept. Raises InputError for a damaged snapshot."""
    path = kept_path(folder, "statistic", _code(), name, weights_key(trial))
    return _kept(path, lambda: statistic(name, snapshot_weights(last_snapshot(trial.folder, trial.result))))


def untrained_statistic(name: str, config: TrialConfig, folder: Path | None) -> dict[str, float]:
    """Layer -> value of the weights with which a trial starts."""
    return _kept(
        kept_path(folder, "statistic", _code(), core_code(), torch_version(), name, config),
        lambda: statistic(name, untrained_weights(config)),
    )


def _code() -> str:
    return code_of("statistics", "cached_statistics")


def _kept(path: Path | None, make: Callable[[], dict[str, float]]) -> dict[str, float]:
    found = read_kept(path)
    if found is None:
        found = json.dumps(make()).encode()
        keep(path, found)
    return json.loads(found)
