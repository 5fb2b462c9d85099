"""Looks at trained weights and their statistics: those of the weights, read again only when these change."""

import os
from dataclasses import replace

import numpy as np
import pytest

from reports.results.decisions import load_results
from reports.results.nets import measured_nets
from reports.weights import layers as net_weights
from reports.weights import statistics as statistics_module
from reports.weights.layers import weight_statistics
from reports.weights.statistics import CENTER, last_snapshot, snapshot_weights, statistic, tap_rms
from tests.reports.made_studies import plan_study, train


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    made = plan_study(folder, "parametric_relu", seeds=(1, 2))
    train(made, {}, weights=True)
    return measured_nets([load_results(made.study, made.runs, made.study_folder)])


def test_looks_at_weights_are_those_of_the_weights(nets):
    net = next(each for each in nets if each.base)
    (found,) = net_weights.net_weights([net])
    weights = [snapshot_weights(last_snapshot(trial)) for trial in net.trials]
    for layer in found.slope_layers:
        assert np.array_equal(found.slopes(layer), np.stack([each[layer] for each in weights]))
    assert found.kernels
    for kernel in found.kernels:
        assert found.tap_rms(kernel, "center") == np.mean([tap_rms(each[kernel], CENTER) for each in weights])
        slow = [
            [
                np.mean([np.sqrt(np.mean(np.float64(each[kernel][:, :, row, column]) ** 2)) for each in weights])
                for column in range(3)
            ]
            for row in range(3)
        ]
        assert found.tap_map(kernel) == pytest.approx(np.array(slow))


def test_looks_are_read_again_only_when_the_snapshot_changes(nets, tmp_path, monkeypatch):
    net = replace(nets[0], cache=tmp_path)
    (first,) = net_weights.net_weights([net])
    read = []
    monkeypatch.setattr(net_weights, "weight_statistics", lambda weights: read.append(1) or weight_statistics(weights))
    (again,) = net_weights.net_weights([net])
    assert not read and all(np.array_equal(again.tap_map(kernel), first.tap_map(kernel)) for kernel in first.kernels)
    assert all(
        again.slopes(layer).dtype == np.float32 and np.array_equal(again.slopes(layer), first.slopes(layer))
        for layer in first.slope_layers
    )
    os.utime(last_snapshot(net.trials[0]), ns=(1, 1))
    net_weights.net_weights([net])
    assert len(read) == 1


def test_statistics_of_claims_are_kept_by_trial_and_name(nets, tmp_path, monkeypatch):
    trial = nets[0].trials[0]
    wanted = statistic("kernel_rms_center", snapshot_weights(last_snapshot(trial)))
    assert statistics_module.trained_statistic("kernel_rms_center", trial, tmp_path) == wanted
    monkeypatch.setattr(statistics_module, "snapshot_weights", lambda path: pytest.fail("read again"))
    assert statistics_module.trained_statistic("kernel_rms_center", trial, tmp_path) == wanted
    monkeypatch.setattr(statistics_module, "snapshot_weights", lambda path: {})
    assert statistics_module.trained_statistic("prelu_slope_mean", trial, tmp_path) == {}
    assert statistics_module.trained_statistic("kernel_rms_center", nets[0].trials[1], tmp_path) == {}
