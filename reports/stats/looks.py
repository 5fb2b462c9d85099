"""Looks at a growing number of seeds: the p of an effect, so that all looks together err as seldom as one.

Group-sequential tests (Armitage, McPherson and Rowe 1969; Pocock 1977; Jennison and Turnbull 2000, chapters 2 and 19).
The estimates at successive looks have independent increments of information, one over their variance; the chance to
leave a region at each look follows by numerical integration from look to look. The p of a t test is taken for that of a
normal one with the same level, as is usual.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

LEAST = 1e-6
"""A p below which the chance of any of several looks is taken for the sum of theirs."""


@dataclass(frozen=True)
class Exits:
    """Chances, look by look, to stop there: because an effect is shown, or for futility. What is left at the last look
    is neither."""

    shown: tuple[float, ...]
    futile: tuple[float, ...]

    def mean(self, seeds: Sequence[int]) -> float:
        """Expected seeds at the end, of looks at `seeds`."""
        ends = [shown + futile for shown, futile in zip(self.shown[:-1], self.futile[:-1], strict=True)]
        return float(np.dot(ends, seeds[:-1]) + (1.0 - sum(ends)) * seeds[-1])


def exits(
    information: Sequence[float],
    bounds: Sequence[float],
    means: Sequence[float] | None = None,
    futile: Sequence[float] | None = None,
) -> Exits:
    """Chances of looks at rising `information` (any unit) at which Z is shown beyond ±bound, and futile within ±futile
    (0 or less: never); means: of Z at each look, 0 unless given."""
    centres = np.zeros(len(bounds)) if means is None else np.asarray(means, float)
    inner = np.zeros(len(bounds)) if futile is None else np.asarray(futile, float)
    # sqrt(information) x (Z - mean) is a Brownian motion without drift: x are its values that go on, with weights.
    x, weight = np.zeros(1), np.ones(1)
    steps = np.sqrt(np.maximum(np.diff([0.0, *information]), 0.0))
    if not (steps > 0).all():
        raise ValueError(f"information {list(information)}: want it to rise")
    shown, stopped = [], []
    for look, (now, bound, centre, step) in enumerate(zip(information, bounds, centres, steps, strict=True)):
        within = min(max(float(inner[look]), 0.0), bound)
        cuts = [math.sqrt(now) * (cut - centre) for cut in (-bound, -within, within, bound)]
        below = [float(weight @ ndtr((cut - x) / step)) for cut in cuts]
        shown.append(below[0] + float(weight.sum()) - below[3])
        stopped.append(below[2] - below[1])
        finest = min(step, steps[look + 1]) if look + 1 < len(steps) else step
        pieces = [cuts[:2], cuts[2:]] if within > 0 else [[cuts[0], cuts[3]]]
        parts = [_nodes(low, high, finest) for low, high in pieces]
        nodes, widths = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        density = np.exp(-0.5 * ((nodes[:, None] - x) / step) ** 2) @ weight / (step * math.sqrt(2 * math.pi))
        x, weight = nodes, widths * density
    return Exits(tuple(shown), tuple(stopped))


def _nodes(low: float, high: float, finest: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss and Legendre's between two ends, for functions without anything narrower than `finest`."""
    nodes, weights = _legendre(min(400, 16 + 4 * math.ceil((high - low) / finest)))
    return low + (nodes + 1) / 2 * (high - low), weights * (high - low) / 2


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(count)


def bound_of(level: float) -> float:
    """|Z| that a p of `level` asks for."""
    return float(-ndtri(level / 2))


@lru_cache(maxsize=4096)
def spent(seeds: Sequence[int], p: float) -> float:
    """The chance that any of several looks, at so many seeds, has a p at or below `p` where there is no effect."""
    return sum(exits(seeds, [bound_of(p)] * len(seeds)).shown) if p < 1.0 else 1.0


def repeated_p(seeds: tuple[int, ...], found: Sequence[float]) -> float:
    """The p of an effect after some of its looks, planned at so many seeds, given the ordinary one at each: the level
    at which Pocock's boundaries (1977) would have shown it by now. It never rises from look to look."""
    return spent(seeds, max(min(found), LEAST)) if min(found) > LEAST else len(seeds) * min(found)


@lru_cache(maxsize=256)
def planned_level(seeds: tuple[int, ...], alpha: float) -> float:
    """The ordinary p at any look whose repeated one is `alpha`."""
    return float(brentq(lambda p: spent(seeds, p) - alpha, alpha / len(seeds) / 2, alpha, xtol=alpha * 1e-5))
