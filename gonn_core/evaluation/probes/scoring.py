"""Scores of probes.

A case is *found* when the likeliest right move has a greater probability than everything it is set against (cases.Case
says what), half found on a tie. Its *share* is the probability of all right moves in that of right and wrong ones
together. A group's score is the mean share, rescaled so that equal probabilities for all moves give 0 and nothing but
right moves 1: (share - chance) / (1 - chance), chance being the mean of the cases' own; worse than chance is below 0.
Shares, not found cases, are scored: an untrained net finds all or none of a family's like drawings by differences of
nothing, but its shares are those of chance.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gonn_core.evaluation.probes.cases import Case

METHOD = 1
"""Version of how nets are asked and scored; part of the id of every stored file."""


class CaseAnswers(NamedTuple):
    """Of each case of a suite, (N,) float32: the greatest probability among the right moves, and among what they are
    set against; and the share."""

    right: np.ndarray
    wrong: np.ndarray
    share: np.ndarray


class LadderHead(NamedTuple):
    """Of each case of a suite, (N,) float32, nan for cases that are not such a pair: the head's mean probability on the
    stones in question, in the position where the ladder works and in the one where it fails. maps (P, 361): its
    probabilities in the documents' positions."""

    works: np.ndarray
    fails: np.ndarray
    maps: np.ndarray


class GroupScore(NamedTuple):
    """Of `cases` cases: share found, score, and mean probabilities of the likeliest right and wrong moves."""

    cases: int
    found: float
    score: float
    right: float
    wrong: float


def solved(given: CaseAnswers) -> np.ndarray:
    """(N,) float64: 1 found, 0.5 tie, 0 not found."""
    return (given.right > given.wrong) + 0.5 * (given.right == given.wrong)


def rescaled(values: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(N,) what each case adds to a group's score, whose mean the score is: (share - its own chance) / (1 - mean
    chance)."""
    return (values - chances) / (1 - chances.mean())


def group_score(cases: Sequence[Case], given: CaseAnswers) -> GroupScore | None:
    """The score of cases; those without a right move do not count. None when none counts."""
    scored = np.array([bool(case.right) for case in cases])
    if not scored.any():
        return None
    chances = np.array([case.chance for case in cases])[scored]
    answers = CaseAnswers(*(values[scored] for values in given))
    return GroupScore(
        cases=int(scored.sum()),
        found=float(solved(answers).mean()),
        score=float(rescaled(answers.share, chances).mean()),
        right=float(answers.right.mean()),
        wrong=float(answers.wrong.mean()),
    )
