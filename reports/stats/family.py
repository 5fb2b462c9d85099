"""Adjusting p values over a family of effects: step-down max-|t|, Dunnett's test where effects share a control.

A family is what a reader sees side by side: all effects of one base, budget, data set, samples and metric of a page.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv, ndtr, stdtrit

from reports.stats.estimates import Effect

NODES = 48
"""Points of the quadratures over what effects with one control have in common, and over their estimated noise."""
SMALL = 1e-5
"""A p below which Bonferroni's bound is as good as exact: 17 effects on one control have 1.699e-4 for 1.7e-4."""


@dataclass(frozen=True)
class Test:
    """One effect in a family: its two-sided p, of t on `df`.

    hub: what it shares with others, such as the control arm, None when nothing; loading: the correlation of its
    estimate with that of the hub: two effects with one hub are correlated by the product of theirs.
    """

    p: float
    df: float
    hub: str | None = None
    loading: float = 0.0


def adjust(effects: Mapping[str, Effect]) -> dict[str, float]:
    """Name -> p adjusted over all of these effects that have one: reject where it is at most alpha, and the chance of
    any false rejection stays at most alpha."""
    judged = {name: effect for name, effect in effects.items() if effect.p is not None}
    return dict(zip(judged, step_down(_tests(list(judged.values()))), strict=True))


def _tests(effects: Sequence[Effect]) -> list[Test]:
    """Each plain pair of arms hangs on whichever of its two arms is in more pairs of the family."""
    pairs = [tuple(effect.weights) if len(effect.weights) == 2 else () for effect in effects]
    uses = Counter(arm for pair in pairs for arm in pair)
    tests = []
    for effect, pair in zip(effects, pairs, strict=True):
        assert effect.p is not None and effect.df is not None
        hub = max(pair, key=lambda arm: uses[arm], default=None)
        if hub is None or uses[hub] < 2:
            tests.append(Test(effect.p, effect.df))
        else:
            tests.append(Test(effect.p, effect.df, hub, math.sqrt(effect.n / (effect.n + effect.control_seeds))))
    return tests


def step_down(tests: Sequence[Test]) -> list[float]:
    """Adjusted p values, in the order given: the k-th smallest p is compared with the smallest of the k-th and all
    larger ones, as it would be if all of these effects were nil.

    Effects with one hub share a normal part, and each has a denominator of its own (with a common one the chance of
    any small p is less: this errs to the safe side). Groups of different hubs are taken as independent, which by the
    Gaussian correlation inequality is safe whatever they have in common; single effects come out as in Sidak's form of
    Holm's procedure.
    """
    order = sorted(range(len(tests)), key=lambda index: tests[index].p)
    adjusted, largest = [0.0] * len(tests), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, chance_of_any(tests[index].p, [tests[other] for other in order[rank:]]))
        adjusted[index] = largest
    return adjusted


def nominal_level(alpha: float, tests: Sequence[Test]) -> float:
    """The p below which the smallest of these tests must be, so that any is with a chance of `alpha` when all effects
    are nil. What the tests' own p values are is of no account."""
    if len(tests) == 1:
        return alpha
    return float(brentq(lambda p: chance_of_any(p, tests) - alpha, alpha / len(tests), alpha))


def chance_of_any(p: float, tests: Sequence[Test]) -> float:
    """The chance that any of these tests has a p at or below `p` when all effects are nil."""
    if p < SMALL or p >= 1.0:
        return min(1.0, p * len(tests))
    hubs: dict[str | None, list[Test]] = {}
    for test in tests:
        hubs.setdefault(test.hub, []).append(test)
    none = 1.0
    for hub, group in hubs.items():
        none *= (1 - p) ** len(group) if hub is None or len(group) == 1 else _none_of(p, group)
    return min(max(1.0 - none, p), len(tests) * p)


@cache
def _normal_quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Points and weights, which add up to 1, of a mean over a normal variate."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, weights / weights.sum()


@lru_cache(maxsize=4096)
def _denominators(df: float) -> np.ndarray:
    """sqrt(chi2 / df) where its chance to be smaller is that of a normal variate's quadrature points: it is a smooth
    function of them, as it is not of the chance itself, whose ends decide small p values."""
    return np.sqrt(2 / df * gammaincinv(df / 2, ndtr(_normal_quadrature()[0])))


def _none_of(p: float, group: Sequence[Test]) -> float:
    """The chance that no test of a group with one hub has a p below `p`: given their common part, they are
    independent."""
    nodes, weights = _normal_quadrature()
    half = NODES // 2  # both signs of the common part are alike
    inside = np.ones(half)
    for (df, loading), count in Counter((test.df, test.loading) for test in group).items():
        rest = math.sqrt(1 - loading**2)
        limit, shift = -stdtrit(df, p / 2) * _denominators(df) / rest, nodes[half:, None] * loading / rest
        inside *= ((ndtr(limit - shift) - ndtr(-limit - shift)) @ weights) ** count
    return float(2 * weights[half:] @ inside)
