"""The quadrature behind adjusted p values, against plain sums on fine grids and against its exact bounds."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from reports.stats.family import Test as FamilyTest
from reports.stats.family import chance_of_any


def by_trapezes(p: float, df: float, loading: float, count: int) -> float:
    """On even grids for the common part and for the denominator, which has the density of chi."""
    common, chi = np.linspace(-9, 9, 361)[:, None], np.linspace(1e-4, math.sqrt(df) + 8, 1500)
    weights, denominators = stats.norm.pdf(common[:, 0]), chi / math.sqrt(df)
    limit, rest = stats.t.isf(p / 2, df) * denominators, math.sqrt(1 - loading**2)
    given = ndtr((limit - common * loading) / rest) - ndtr((-limit - common * loading) / rest)
    density = stats.chi.pdf(chi, df)
    return float(1 - weights @ (given @ density / density.sum()) ** count / weights.sum())


@pytest.mark.parametrize(("df", "count"), [(3.0, 2), (5.0, 17), (20.0, 5)])
@pytest.mark.parametrize("p", [0.001, 0.05, 0.5])
def test_the_chance_of_any_is_that_of_a_fine_quadrature(p, df, count):
    tests = [FamilyTest(1.0, df, "control", 0.7)] * count
    assert chance_of_any(p, tests) == pytest.approx(by_trapezes(p, df, 0.7, count), rel=1e-3)


@pytest.mark.parametrize("df", [1.0, 2.0, 5.0, 8.5, 100.0])
def test_an_adjusted_p_is_never_below_its_own_nor_above_bonferronis(df):
    tests = [FamilyTest(1.0, df + index / 10, "control", 0.7) for index in range(9)]
    chances = [chance_of_any(p, tests) for p in np.geomspace(1e-12, 0.999, 60)]
    for p, chance in zip(np.geomspace(1e-12, 0.999, 60), chances, strict=True):
        assert p <= chance <= min(1.0, 9 * p) * (1 + 1e-12)
    assert chances == sorted(chances)
