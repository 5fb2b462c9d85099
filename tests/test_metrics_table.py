"""Facts on metrics stand in one table, and every module that needs a set of metrics takes it from there."""

from typing import get_args

from ablations.schema import Metric as ClaimedMetric
from gonn_core.evaluation.metrics import VALUES
from gonn_core.metrics import CLAIMED, METRICS, OF_POSITIONS, Source
from reports.claims.measures import MEASURES
from reports.stats.verdicts import Thresholds


def test_every_metric_of_positions_has_values_and_the_other_way_round():
    assert tuple(VALUES) == OF_POSITIONS


def test_claims_may_name_the_claimed_ones():
    assert get_args(ClaimedMetric) == CLAIMED


def test_every_source_of_a_claim_has_a_measure():
    assert set(MEASURES) == set(get_args(Source))


def test_what_is_judged_has_a_direction():
    """An effect on it gets a verdict in a study's tables as soon as a claim names it."""
    for name in CLAIMED:
        metric = METRICS[name]
        if metric.source in ("positions", "curve"):
            assert metric.better is not None and metric.margin is not None, name
            assert Thresholds().smallest(name) > 0
        assert metric.claim_unit or metric.unit == "its own", name
