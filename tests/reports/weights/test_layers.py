"""Slopes and kernels by layer against the weights, statistics of claims, and `gonn inspect` of a whole net."""

import csv

import numpy as np
import pytest

from orchestration.cli import command as cli
from reports.results.decisions import load_results
from reports.results.nets import measured_nets
from reports.weights import statistics as statistics_module
from reports.weights.layers import kernels_of, slopes_of, tap_map
from reports.weights.statistics import last_snapshot, snapshot_weights, statistic
from tests.reports.made_studies import plan_study, registry, train


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    made = plan_study(folder, "parametric_relu", seeds=(1, 2))
    train(made, {}, weights=True)
    return measured_nets([load_results(made.study, made.runs, made.study_folder)])


def test_layers_are_in_order_and_maps_are_those_of_the_kernels(nets):
    trial = next(net for net in nets if net.base).trials[0]
    weights = snapshot_weights(last_snapshot(trial))
    slopes, kernels = slopes_of(weights), kernels_of(weights)
    blocks = [f"blocks.{block}.slopes{k}" for block in (1, 2) for k in (1, 2)]
    assert list(slopes) == [*blocks, "trunk_end.slopes", "head.pooled.slopes"]
    assert all(values.mean() == pytest.approx(-0.25) for values in slopes.values())  # as they were made
    assert len(kernels) == 4
    for layer, kernel in kernels.items():
        slow = np.array([[np.sqrt(np.mean(weights[layer][:, :, row, k] ** 2)) for k in range(3)] for row in range(3)])
        edges = (slow[0, 1] + slow[1, 0] + slow[1, 2] + slow[2, 1]) / 4
        assert tap_map(kernel) == pytest.approx(slow / edges, rel=1e-5)


def test_gonn_inspect_writes_the_net_and_all_that_is_published(nets, monkeypatch, capsys):
    trial = next(net for net in nets if net.base).trials[0]
    home = trial.folder.parent.parent
    monkeypatch.setenv("GONN_HOME", str(home))
    assert cli.run(["inspect", trial.id[:8]]) == 0
    folder = home / "out" / f"net-{trial.id}"
    assert capsys.readouterr().out == f"report: {folder / 'inspect.md'}\n"
    names = ("slopes", "taps", "channels")
    files = {f"{name}.{end}" for name in names for end in ("csv", "png", "svg")}
    assert {path.name for path in folder.iterdir()} == files | {"inspect.md"}
    shown = [row for name in names for row in csv.reader((folder / f"{name}.csv").open(encoding="utf-8"))]
    looks = registry().published["gonn"].looks
    said = [[each.layer, *(f"{tap:g}" for tap in (each.corners, each.edges, each.center))] for each in looks.taps]
    said += [[each.layers, f"{each.mean[0]:g}"] for each in looks.slopes]
    said += [[each.position, f"{each.channel}: {each.what}"] for each in looks.channels]
    for texts in said:
        assert any(all(any(text in cell for cell in row) for text in texts) for row in shown), texts
    assert all(float(row[-1]) > 1.5 for row in shown if row[0] == "this net" and len(row) == 6)  # centre : edge


def test_statistics_of_claims_are_kept_by_trial_and_name(nets, tmp_path, monkeypatch):
    trial = nets[0].trials[0]
    computed = statistic("kernel_rms_center", snapshot_weights(last_snapshot(trial)))
    assert statistics_module.trained_statistic("kernel_rms_center", trial, tmp_path) == computed
    monkeypatch.setattr(statistics_module, "snapshot_weights", lambda path: pytest.fail("read again"))
    assert statistics_module.trained_statistic("kernel_rms_center", trial, tmp_path) == computed
    monkeypatch.setattr(statistics_module, "snapshot_weights", lambda path: {})
    assert statistics_module.trained_statistic("prelu_slope_mean", trial, tmp_path) == {}
    assert statistics_module.trained_statistic("kernel_rms_center", nets[0].trials[1], tmp_path) == {}
