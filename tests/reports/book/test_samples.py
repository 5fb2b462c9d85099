"""The trend of an effect over samples."""

import numpy as np
import pytest

from reports.book.samples import trend
from tests.reports.worth.made import SAMPLES, effect


def effects(deltas, se=0.008, df=6.0):
    return {samples: effect(delta, se, df) for samples, delta in zip(SAMPLES, deltas, strict=True)}


def test_the_slope_is_that_of_weighted_least_squares():
    made = {25_000: effect(-0.02, 0.004), 50_000: effect(-0.05, 0.01), 200_000: effect(-0.06, 0.006)}
    found = trend(made, 0.05, 0.002)
    (slope, _), covariance = np.polyfit(
        np.log2(list(made)), [-0.02, -0.05, -0.06], 1, w=[1 / 0.004, 1 / 0.01, 1 / 0.006], cov="unscaled"
    )
    assert found.slope == pytest.approx(slope)
    half = (found.interval95.high - found.interval95.low) / 2
    assert half == pytest.approx(2.447 * np.sqrt(covariance[0, 0]), rel=0.25)  # t on 6 df, more with three of them


@pytest.mark.parametrize(
    "deltas, se, course",
    [
        ((-0.02, -0.06, -0.10, -0.14), 0.008, "growing"),
        ((0.02, 0.06, 0.10, 0.14), 0.008, "growing"),
        ((-0.14, -0.10, -0.06, -0.02), 0.008, "fading"),
        ((-0.05, -0.05, -0.05, -0.05), 0.0008, "steady"),
        ((-0.05, -0.05, -0.05, -0.05), 0.008, "not settled"),
    ],
)
def test_words(deltas, se, course):
    found = trend(effects(deltas, se), 0.05, 0.002)
    assert str(found.kind) == course and (found.p < 0.05) == (course in ("growing", "fading"))


def test_one_number_is_no_trend():
    assert trend({25_000: effect(-0.1, 0.01)}, 0.05, 0.002) is None


def test_a_trend_where_there_is_none_is_found_no_more_often_than_told():
    random, tables, sd = np.random.default_rng(3), 400, 0.0178
    found = 0
    for _ in range(tables):
        runs = -0.03 + sd * random.standard_normal((4, 4))
        made = {
            samples: effect(float(row.mean()), float(row.std(ddof=1)) / 2, 3)
            for samples, row in zip(SAMPLES, runs, strict=True)
        }
        found += trend(made, 0.05, 0.002).p < 0.05
    assert found <= 0.075 * tables
