"""How much of its past each position shows in an evaluation, and which positions two histories show alike."""

from typing import get_args

import numpy as np

from gonn_core.records.sampler import GONN_KEEP, keep_for_rows
from gonn_core.settings.evaluation import HistoryMode
from gonn_core.settings.features import FeatureConfig

_KEEP_SEED = 0  # part of the metric set: a row of a store keeps the same history in every evaluation
_ALL_HISTORY = len(GONN_KEEP)


def history_kept(rows: np.ndarray, mode: HistoryMode) -> np.ndarray:
    """How many of the last moves each of `rows` (N,) shows under a history mode: (N,) uint8."""
    if mode == "full":
        return np.full(len(rows), _ALL_HISTORY, np.uint8)
    if mode == "as_published":
        return keep_for_rows(rows, _KEEP_SEED, GONN_KEEP)
    if mode == "none":
        return np.zeros(len(rows), np.uint8)
    raise ValueError(f"history mode {mode!r}: valid are {', '.join(get_args(HistoryMode))}")


def shown_in_full(features: FeatureConfig, rows: np.ndarray, mode: HistoryMode) -> np.ndarray:
    """(N,) bool: which of `rows` (N,) have the same planes under `mode` as under `full`.

    Those that keep as many moves as there are planes of moves or of past boards; all of them where there is none. Rows
    at a game's beginning, which have no more moves to show, are not told apart.
    """
    return history_kept(rows, mode) >= max(features.history, features.past_boards)
