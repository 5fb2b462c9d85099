"""Test less training error, of nets that minimise the squared error."""

from types import SimpleNamespace

import numpy as np
import pytest

from ablations.registry import load_registry
from gonn_core.config import with_values
from gonn_core.evaluation.metrics import GameSums
from reports.results.group import Run, run_sums

COUNTS, TRAINED = np.array([10.0, 30.0]), 0.6
TESTED = {"squared_error": np.array([8.0, 21.0]), "squared_error_planes": np.array([9.0, 24.0])}


def gap(**values):
    """Of one run on two games; `values`: settings of its arm."""
    config = with_values(load_registry().base("cazenave-7x128").config, values)
    sums = SimpleNamespace(of=lambda metric: GameSums(np.arange(2), TESTED[metric], COUNTS))
    trial = SimpleNamespace(curve=[{"train_loss": 1.0}, {"train_loss": TRAINED}])
    run = Run(None, SimpleNamespace(config=config), trial, {"test": SimpleNamespace(sums=sums)})
    return run_sums(run, "generalisation_gap", "test")


@pytest.mark.parametrize(("planes", "metric"), [(1, "squared_error"), (3, "squared_error_planes")])
def test_the_gap_is_that_of_the_planes_that_a_net_has(planes, metric):
    sums, counts = gap(**{"net.residual.output_planes": planes})
    assert sums.sum() / counts.sum() == pytest.approx(TESTED[metric].sum() / 40 - TRAINED)
    assert sums / counts == pytest.approx(TESTED[metric] / COUNTS - TRAINED)  # games keep their noise


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
    assert gap(**values) is None
