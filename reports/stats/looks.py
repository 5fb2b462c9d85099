"""Looks at a growing number of seeds: the p of an effect, so that all looks together err as seldom as one.

Group-sequential tests (Armitage, McPherson and Rowe 1969; Pocock 1977; Jennison and Turnbull 2000, chapters 2 and 19).
The estimates at successive looks have independent increments of information, one over their variance; the chance to
leave a region at each look follows by numerical integration from look to look. The p of a t test is taken for that of a
normal one with the same level, as is usual.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

LEAST = 1e-6
"""A p below which the chance of any of several looks is taken for the sum of theirs."""


def exits(information: Sequence[float], bounds: Sequence[float]) -> list[float]:
    """Chances, look by look at rising `information` (any unit), to be the first at which Z is beyond ±bound where there
    is no effect."""
    steps = np.sqrt(np.maximum(np.diff([0.0, *information]), 0.0))
    if not (steps > 0).all():
        raise ValueError(f"information {list(information)}: want it to rise")
    # sqrt(information) x Z is a Brownian motion: x are its values that continue, with weights.
    x, weight, chances = np.zeros(1), np.ones(1), []
    for look, (now, bound, step) in enumerate(zip(information, bounds, steps, strict=True)):
        cut = math.sqrt(now) * bound
        inside = float(weight @ (ndtr((cut - x) / step) - ndtr((-cut - x) / step)))
        chances.append(float(weight.sum()) - inside)
        nodes, widths = _nodes(cut, min(steps[look : look + 2]))
        density = np.exp(-0.5 * ((nodes[:, None] - x) / step) ** 2) @ weight / (step * math.sqrt(2 * math.pi))
        x, weight = nodes, widths * density
    return chances


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(count)


def _nodes(cut: float, finest: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss and Legendre's between ±cut, for functions without anything narrower than `finest`."""
    nodes, weights = _legendre(min(400, 16 + 4 * math.ceil(2 * cut / finest)))
    return nodes * cut, weights * cut


@lru_cache(maxsize=4096)
def spent(seeds: Sequence[int], p: float) -> float:
    """The chance that any of several looks, at so many seeds, has a p at or below `p` where there is no effect."""
    return sum(exits(seeds, [float(-ndtri(p / 2))] * len(seeds))) if p < 1.0 else 1.0


def repeated_p(seeds: tuple[int, ...], found: Sequence[float]) -> float:
    """The p of an effect after some of its looks, planned at so many seeds, given the ordinary one at each: the level
    at which Pocock's boundaries (1977) would have shown it by now. It never rises from look to look."""
    return spent(seeds, max(min(found), LEAST)) if min(found) > LEAST else len(seeds) * min(found)


@lru_cache(maxsize=256)
def planned_level(seeds: tuple[int, ...], alpha: float) -> float:
    """The ordinary p at any look whose repeated one is `alpha`."""
    return float(brentq(lambda p: spent(seeds, p) - alpha, alpha / len(seeds) / 2, alpha, xtol=alpha * 1e-5))
