"""Scores of positions under a history mode, with what other modes have shown already taken from there.

Under `as_published` 78 % of the positions show all their moves, and a net without planes of moves sees no difference at
all: there the scores of `full` are the answer. Which ones they are is a matter of rows and planes alone, so the order
in which modes are asked for changes nothing: whoever asks for `as_published` alone has `full` computed on the way.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from gonn_core.evaluation.evaluate import Maker, evaluate, shown_in_full
from gonn_core.evaluation.metrics import PLAIN, Reading, Scores
from gonn_core.settings.data import HistoryMode
from gonn_core.settings.features import FeatureConfig


class Answers(NamedTuple):
    """Who answers, and how: see `evaluate`. on_batch is told how many positions are done, and of how many; later:
    whether the maker and the net tell of the moves after the next one."""

    net: torch.nn.Module
    maker: Maker
    threads: int = 1
    on_batch: Callable[[int, int], None] | None = None
    reading: Reading = PLAIN
    later: bool = False

    def is_whole(self, scores: Scores) -> bool:
        """Whether scores have all that is made of positions today; stored ones may be older."""
        wanted = [scores.entropy, scores.squared_error]
        wanted += [scores.illegal] if self.reading.legal_only else []
        wanted += [scores.later_nats, scores.later_rank, scores.later_squared_error] if self.later else []
        return all(array is not None for array in wanted)

    def of(self, rows: np.ndarray, history: HistoryMode, before: int = 0, after: int = 0) -> Scores:
        """Of `rows` (N,) computed now, with so many positions done before and due after them."""
        tell, total = self.on_batch, before + len(rows) + after
        on_batch = None if tell is None else lambda done: tell(before + done, total)
        return evaluate(self.net, self.maker, rows, history, self.threads, on_batch, self.reading)


def answer(
    answers: Answers, features: FeatureConfig, rows: np.ndarray, history: HistoryMode, full: Scores | None = None
) -> Scores:
    """Scores of `rows` (N,) under a history mode.

    full: those of the same rows, weights and reading under `full`, where they are known; left alone if they lack what
    is kept of positions today. Raises NotFinite.
    """
    alike = shown_in_full(features, rows, history)
    if history == "full" or not alike.any():
        return answers.of(rows, history)
    others = np.flatnonzero(~alike)
    known = full is not None and answers.is_whole(full)
    done = int(alike.sum()) if known else len(rows)
    scores = full if full is not None and known else answers.of(rows, "full", after=len(others))
    if not len(others):
        return scores
    anew = answers.of(rows[others], history, before=done)._asdict()
    arrays = {name: array.copy() for name, array in scores._asdict().items() if array is not None}
    for name, array in arrays.items():
        array[others] = anew[name]
    return Scores(**arrays)
