"""Scores of probes.

A case is *found* when the likeliest right move has a greater probability than everything it is set against (cases.Case says what), half
found on a tie. A group's score is its share of found cases, rescaled so that preferring by chance gives 0 and finding all gives 1:
(found - chance) / (1 - chance), chance being the mean of the cases' own; worse than chance is below 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .cases import Case

METHOD = 1
"""Version of how nets are asked and scored; part of the id of every stored file."""


class Answers(NamedTuple):
    """right, wrong (N,) float32: the greatest probability among the right moves of each case of a suite, and among what they are set against."""

    right: np.ndarray
    wrong: np.ndarray


class GroupScore(NamedTuple):
    """Of `cases` cases: share found, score, and mean probabilities of the likeliest right and wrong moves."""

    cases: int
    found: float
    score: float
    right: float
    wrong: float


def found(given: Answers) -> np.ndarray:
    """(N,) float64: 1 found, 0.5 tie, 0 not found."""
    return (given.right > given.wrong) + 0.5 * (given.right == given.wrong)


def rescaled(values: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(N,) what each case adds to a group's score, whose mean the score is: (found - its own chance) / (1 - mean chance)."""
    return (values - chances) / (1 - chances.mean())


def group_score(cases: Sequence[Case], given: Answers) -> GroupScore | None:
    """The score of cases; those without a right move do not count. None when none counts."""
    scored = np.array([bool(case.right) for case in cases])
    if not scored.any():
        return None
    chances = np.array([case.chance for case in cases])[scored]
    kept = Answers(given.right[scored], given.wrong[scored])
    values = found(kept)
    score = float(rescaled(values, chances).mean())
    return GroupScore(int(scored.sum()), float(values.mean()), score, float(kept.right.mean()), float(kept.wrong.mean()))
