"""Test less training error, of nets that minimise the squared error."""

from types import SimpleNamespace

import numpy as np
import pytest

from ablations.registry import load_registry
from gonn_core.config import with_values
from reports.results.compare import error_gap
from reports.stats.clusters import ArmResult

SEEDS, COUNTS = (1, 2), np.array([10.0, 30.0])
TESTED = {
    "squared_error": np.array([[8.0, 21.0], [8.5, 22.0]]),
    "squared_error_planes": np.array([[9.0, 24.0], [9.5, 25.0]]),
}
TRAINED = {1: 0.60, 2: 0.62}


def results(**values):
    """Two seeds on two games; `values`: settings of the arm."""
    config = with_values(load_registry().base("cazenave-7x128").config, values)
    trials = [
        SimpleNamespace(seed=seed, result={}, curve=[{"train_loss": 1.0}, {"train_loss": error}])
        for seed, error in TRAINED.items()
    ]
    return SimpleNamespace(
        study=SimpleNamespace(arm=lambda arm: SimpleNamespace(config=config)),
        arm_result=lambda arm, evaluation, metric: ArmResult(SEEDS, TESTED[metric], COUNTS),
        of_arm=lambda arm: trials,
    )


@pytest.mark.parametrize(("planes", "metric"), [(1, "squared_error"), (3, "squared_error_planes")])
def test_the_gap_is_that_of_the_planes_that_a_net_has(planes, metric):
    gap = error_gap(results(**{"net.residual.output_planes": planes}), "control", 0)
    means = gap.sums.sum(1) / COUNTS.sum()
    assert means == pytest.approx([TESTED[metric][k].sum() / 40 - TRAINED[seed] for k, seed in enumerate(SEEDS)])
    apart = [TESTED[metric][0][game] / COUNTS[game] - TRAINED[1] for game in range(2)]
    assert gap.sums[0] / COUNTS == pytest.approx(apart)  # games keep their noise


@pytest.mark.parametrize(
    "values",
    [
        {"training.loss": "cross_entropy"},
        {"training.loss_from": 1000},
        {"training.auxiliary.ownership": 0.1},
        {"net.residual.output_planes": 3, "training.plane_weights": "sum"},
    ],
)
def test_errors_of_different_quantities_are_not_subtracted(values):
    assert error_gap(results(**values), "control", 0) is None
