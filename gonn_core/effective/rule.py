"""A rule on idle settings: which, when, and the values that take their place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gonn_core.config import TrainingConfig, TrialConfig, get_path


@dataclass(frozen=True)
class Rule:
    """values: path -> the value that computes the same in this run, the default if that does; of `paths` alone."""

    paths: tuple[str, ...]
    idle: str
    """When they make no difference, in words."""
    values: Callable[[TrialConfig], Mapping[str, Any]]


@cache
def default(path: str) -> Any:
    """The value of a setting that is not set."""
    return get_path(TrialConfig(), path)


def unless(path: str, idle: str, used: Callable[[TrialConfig], bool]) -> Rule:
    """A rule that puts one setting to its default where it is not `used`."""
    return Rule((path,), idle, lambda config: {} if used(config) else {path: default(path)})


def steps_of(training: TrainingConfig) -> int:
    """Steps of a run."""
    return training.samples // training.batch_size
