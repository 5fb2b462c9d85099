"""How many positions a trial's net looks at beside its training: evaluations, and looks at validation on the way."""

from functools import cache

import numpy as np

from gonn_core.evaluation.evaluate import shown_in_full
from gonn_core.settings.evaluation import HistoryMode
from gonn_core.settings.features import FeatureConfig
from gonn_core.trial.job import RunSettings

SYMMETRIES = 8
SAMPLED = 20_000
"""Rows by which the share of positions is told that an evaluation need not compute."""


def evaluation_passes(settings: RunSettings, features: FeatureConfig) -> float:
    """Positions that all evaluations of a trial pass through its net. What shows the same planes under full history is
    taken from that evaluation, where the job asks for it too."""
    full = {(each.view, each.symmetry_averaging) for each in settings.evaluations if each.history == "full"}
    return sum(
        request.minimum_positions
        * (SYMMETRIES if request.symmetry_averaging else 1)
        * (share_computed(features, request.history) if (request.view, request.symmetry_averaging) in full else 1.0)
        for request in settings.evaluations
    )


def look_passes(settings: RunSettings) -> int:
    """The same of the points of its curve."""
    return settings.looks * settings.progress_positions


@cache
def share_computed(features: FeatureConfig, history: HistoryMode) -> float:
    """Of the positions of an evaluation, beside one under full history."""
    if history == "full":
        return 1.0
    return 1.0 - float(np.mean(shown_in_full(features, np.arange(SAMPLED), history)))
