"""What a screen cannot tell apart: strings of interactions of two cards, told from a study's contrasts alone.

The interaction of two cards is the half-difference of one's effect where the other is there and where it is not. In a
screen several of them have the same signs, run for run, so that only their sum can be estimated; main effects are clear
of all of them.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ablations.study import Study


@dataclass(frozen=True)
class AliasString:
    """Interactions that cannot be told apart.

    pairs: of cards; blocks: whether the string also is, or holds, a difference between seeds or between fractions of
    the arms (then it is not estimated).
    """

    pairs: tuple[tuple[str, str], ...]
    blocks: bool


def signs(study: Study) -> Mapping[str, np.ndarray]:
    """Card -> (arms,) int8, in the order of the study's arms: 1 with the card, -1 without it, 0 where the arm has no
    part in its effect."""
    index = {arm.id: number for number, arm in enumerate(study.arms)}
    found = {}
    for contrast in study.contrasts:
        column = np.zeros(len(index), np.int8)
        column[[index[arm] for arm in contrast.with_it]] = 1
        column[[index[arm] for arm in contrast.without]] = -1
        found[contrast.card] = column
    return found


def blocks(study: Study) -> np.ndarray:
    """(blocks, arms) float64: indicators of the arms that have one and the same seeds, and of those in which the same
    cards are varied; each about its mean, those that are 0 left out."""
    columns = signs(study)
    varied = np.array([column != 0 for column in columns.values()], dtype=bool).T.reshape(len(study.arms), -1)
    seeds = [tuple(sorted(study.trials_of(arm.id))) for arm in study.arms]
    found = []
    for keys in (seeds, [tuple(row) for row in varied.tolist()]):
        found += [[key == each for key in keys] for each in dict.fromkeys(keys)]
    indicators = np.array(found, dtype=float)
    indicators -= indicators.mean(axis=1, keepdims=True)
    return indicators[np.abs(indicators).max(axis=1) > 0]


def alias_strings(study: Study) -> tuple[AliasString, ...]:
    """All strings of a study whose contrasts are of all arms or of fractions of them: the longest first.

    Two interactions are in one string where their signs are not orthogonal over the arms; interactions of cards that
    are never varied in the same arm are in none.
    """
    columns = signs(study)
    pairs = [pair for pair in combinations(columns, 2) if (columns[pair[0]] * columns[pair[1]]).any()]
    if not pairs:
        return ()
    products = np.array([columns[one] * columns[other] for one, other in pairs], dtype=float)
    confounded = np.abs(products @ blocks(study).T) > 1e-9
    in_blocks = confounded.any(axis=1) if confounded.size else np.zeros(len(pairs), bool)
    together = np.abs(products @ products.T) > 1e-9
    strings = [
        AliasString(tuple(pairs[k] for k in members), bool(in_blocks[list(members)].any()))
        for members in _connected(together)
    ]
    return tuple(sorted(strings, key=lambda string: (-len(string.pairs), string.pairs)))


def residual_df(study: Study) -> int:
    """Degrees of freedom from which the noise of a run is told: of repeated runs of an arm where there are enough, else
    what main effects, seeds and fractions leave over."""
    columns, number = signs(study), {arm.id: index for index, arm in enumerate(study.arms)}
    rows = [number[trial.arm] for trial in study.trials]
    varied = [tuple(bool(column[row]) for column in columns.values()) for row in rows]
    levels = np.hstack([_indicators([trial.seed for trial in study.trials]), _indicators(varied)])
    effects = np.column_stack([column[rows] for column in columns.values()])
    rank = np.linalg.matrix_rank
    left = len(rows) - int(rank(np.hstack([levels, effects])))
    repeated = len(rows) - int(rank(np.hstack([levels, _indicators(rows)])))
    return repeated if 2 * repeated >= left and repeated > 0 else left


def _indicators(keys: Sequence[Hashable]) -> np.ndarray:
    """(rows, different keys) 0 or 1."""
    return np.array([[key == each for each in dict.fromkeys(keys)] for key in keys], dtype=float)


def _connected(adjacent: np.ndarray) -> Sequence[tuple[int, ...]]:
    """Connected components of a graph, each in rising order, the one with the lowest number first."""
    left = np.ones(len(adjacent), bool)
    found = []
    while left.any():
        reached = np.zeros(len(adjacent), bool)
        reached[int(left.argmax())] = True
        while (more := reached | adjacent[reached].any(axis=0)).sum() > reached.sum():
            reached = more
        found.append(tuple(np.flatnonzero(reached).tolist()))
        left &= ~reached
    return found
