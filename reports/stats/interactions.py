"""Interactions of two cards in a design of runs: strings of those that it cannot tell apart, what each comes to, and
whether there are any.

An interaction is on the scale of a main effect: half of what the effect of one card differs by with and without the
other.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from reports.stats.family import Test, step_down
from reports.stats.runs import TOLERANCE, Estimate, Model, Runs
from reports.stats.seed_noise import SeedPool
from reports.stats.verdicts import Thresholds

Pair = tuple[str, str]


@dataclass(frozen=True)
class AliasString:
    """Interactions of two cards that these arms cannot tell apart: (one, other) -> its sign in the sum that is
    estimated, the likeliest first.

    estimate: None where there is none, for `reason`. overlaps: the first pairs of other strings that hold a part of it:
    where cards exclude each other, of a string that is of a fraction of the arms only.
    """

    pairs: Mapping[Pair, int]
    estimate: Estimate | None
    reason: str | None = None
    p_adjusted: float | None = None
    overlaps: frozenset[Pair] = frozenset()

    @property
    def first(self) -> Pair:
        """The likeliest pair."""
        return next(iter(self.pairs))


@dataclass(frozen=True)
class MeanSquareTest:
    """F test of a group of columns: their mean square over the variance of a run; `replicated`: from repeated runs of
    this study, else from other studies."""

    f: float
    df: tuple[float, float]
    p: float
    mean_square: float
    variance: float
    replicated: bool


@dataclass(frozen=True)
class Interactions:
    """What a design of runs tells of interactions.

    strings: the largest first, then those without an estimate; two_card: test of all strings at once, higher: of what
    else stands in the arms' means; None where there is nothing to test, or to test against.
    """

    strings: tuple[AliasString, ...]
    two_card: MeanSquareTest | None
    higher: MeanSquareTest | None

    def shown(self, alpha: float) -> tuple[AliasString, ...]:
        """The strings that stand out among all, without those that overlap with a larger one that does."""
        found: list[AliasString] = []
        for each in self.strings:
            small = each.p_adjusted is not None and each.p_adjusted < alpha
            if small and not any(larger.first in each.overlaps for larger in found):
                found.append(each)
        return tuple(found)


def find_interactions(
    runs: Runs, thresholds: Thresholds, effects: Mapping[str, float], prior: SeedPool | None = None
) -> Interactions:
    """Interactions of all cards of a design.

    Each string is estimated beside the main effects as if it were the only one; where runs are not repeated, that takes
    it out of the noise. Its p is adjusted over the strings. effects: main effects by card: cards with large effects are
    those that interact, so pairs with a large product of theirs come first.
    """
    strings, overlaps, of_fractions = _alias_strings(runs, effects)
    columns = [runs.interaction(*next(iter(pairs))) for pairs in strings]
    found = [
        replace(_estimated(runs, pairs, column, thresholds, prior), overlaps=others)
        for pairs, column, others in zip(strings, columns, overlaps, strict=True)
    ]
    told = [each for each in found if each.estimate is not None]
    tests = [_test(each) for each in told]
    adjusted = iter(step_down([test for test in tests if test]))
    told = [replace(each, p_adjusted=next(adjusted) if test else None) for each, test in zip(told, tests, strict=True)]
    told.sort(key=lambda each: -abs(each.estimate.value / np.sqrt(each.estimate.size)) if each.estimate else 0.0)
    untold = [each for each in found if each.estimate is None]
    hidden = [AliasString(pairs, None, "cannot be told from the fractions") for pairs in of_fractions]
    return Interactions((*told, *untold, *hidden), *_tests(runs, columns, prior))


def _test(string: AliasString) -> Test | None:
    estimate = string.estimate
    if estimate is None or estimate.p is None or estimate.df is None:
        return None
    return Test(estimate.p, estimate.df)


def _estimated(
    runs: Runs, pairs: Mapping[Pair, int], column: np.ndarray, thresholds: Thresholds, prior: SeedPool | None
) -> AliasString:
    model = runs.model(column)
    estimate = runs.estimate(model, np.eye(model.columns.shape[1])[-1], thresholds, prior)
    if estimate is not None:
        return AliasString(pairs, estimate)
    if np.abs(Model(runs.levels).residuals(column)).max() < TOLERANCE:
        return AliasString(pairs, None, "cannot be told from the seeds")
    return AliasString(pairs, None, "the runs that there are do not tell it")


def _alias_strings(
    runs: Runs, effects: Mapping[str, float]
) -> tuple[list[dict[Pair, int]], list[frozenset[Pair]], list[dict[Pair, int]]]:
    """Pairs whose columns over the arms of the whole design are the same but for the sign, finished or not; what
    overlaps with each; then those that the fractions' levels hide."""
    signs = np.array(list(runs.signs.values()), dtype=float)
    fractions = {pattern: number for number, pattern in enumerate(dict.fromkeys(map(tuple, np.abs(signs))))}
    levels = np.eye(len(fractions))[[fractions[pattern] for pattern in map(tuple, np.abs(signs))]]
    main = Model(np.hstack([levels, signs]))
    strings: dict[bytes, dict[Pair, int]] = {}
    columns: dict[bytes, np.ndarray] = {}
    hidden: dict[Pair, int] = {}
    likeliest = sorted(
        itertools.combinations(range(len(runs.cards)), 2),
        key=lambda pair: -abs(effects.get(runs.cards[pair[0]], 0.0) * effects.get(runs.cards[pair[1]], 0.0)),
    )
    for one, other in likeliest:
        product = signs[:, one] * signs[:, other]
        if not product.any():
            continue  # they are never varied together
        pair = runs.cards[one], runs.cards[other]
        column = np.round(main.residuals(product), 6) + 0.0
        nonzero = column[np.abs(column) > TOLERANCE]
        if not len(nonzero):
            hidden[pair] = 1
            continue
        sign = 1 if nonzero[0] > 0 else -1
        key = (column * sign + 0.0).tobytes()
        columns.setdefault(key, column)
        strings.setdefault(key, {})[pair] = sign
    firsts = [next(iter(string)) for string in strings.values()]
    every = np.array([columns[key] for key in strings]).reshape(len(strings), -1)
    meets = (np.abs(every @ every.T) > TOLERANCE) & ~np.eye(len(strings), dtype=bool)
    overlaps = [frozenset(firsts[index] for index in np.flatnonzero(row)) for row in meets]
    found = [{pair: sign * next(iter(string.values())) for pair, sign in string.items()} for string in strings.values()]
    return found, overlaps, [hidden] if hidden else []


def _tests(
    runs: Runs, columns: Sequence[np.ndarray], prior: SeedPool | None
) -> tuple[MeanSquareTest | None, MeanSquareTest | None]:
    """Of all strings, and of what they and the main effects leave of the arms' means. On other games an arm's mean is
    another one, so the games' part belongs to the noise."""
    if runs.replicates.df > 0:
        variance, df = runs.replicates.variance(runs.values), float(runs.replicates.df)
    elif prior is not None and runs.paired:
        variance, df = prior.variance / 2, prior.df
    else:
        return None, None
    if variance <= 0.0:
        return None, None
    replicated, games = runs.replicates.df > 0, _games_variance(runs, columns)
    variance, df = variance + games, (variance + games) / (variance / df + games / (len(runs.counts) - 1))
    with_strings = runs.model(*columns)
    squares = [float((model.residuals(runs.values) ** 2).sum()) for model in (runs.main, with_strings, runs.replicates)]
    dfs = [model.df for model in (runs.main, with_strings, runs.replicates)]

    def test(larger: int, smaller: int) -> MeanSquareTest | None:
        less = dfs[larger] - dfs[smaller]
        if less <= 0:
            return None
        mean = max(0.0, squares[larger] - squares[smaller]) / less
        f = mean / variance
        return MeanSquareTest(f, (float(less), df), float(fdtrc(less, df, f)), mean, variance, replicated)

    return test(0, 1), test(1, 2) if replicated else None


def _games_variance(runs: Runs, columns: Sequence[np.ndarray]) -> float:
    """What the games that all runs of an arm have in common add to the variance of a run, mean over the columns."""
    found = []
    for column in columns:
        model = runs.model(column)
        weights = model.coefficient(-1)
        if weights is not None:
            found.append(runs.games_noise(model, weights).common / float(weights @ weights))
    return float(np.mean(found)) if found else 0.0
