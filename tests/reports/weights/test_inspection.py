"""`gonn inspect` of a whole net, its channels before pooling, and the statistics of claims."""

import csv

import numpy as np
import pytest
import torch

from gonn_core.evaluation.probes.suite import published
from orchestration.cli import command as cli
from reports.results.decisions import load_results
from reports.results.nets import measured_nets
from reports.weights import statistics as statistics_module
from reports.weights.inspection import pooled_maps, slopes_table, taps_table
from reports.weights.statistics import last_snapshot, snapshot_weights, statistic
from tests.reports.made_studies import plan_study, registry, train


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Two seeds of a base with weights."""
    folder = tmp_path_factory.mktemp("kept")
    made = plan_study(folder, "parametric_relu", seeds=(1, 2))
    train(made, {}, weights=True)
    nets = measured_nets([load_results(made.study, made.runs, made.study_folder)])
    return next(net for net in nets if net.base).trials


def test_layers_are_in_order_with_the_numbers_of_their_weights(trials):
    weights = snapshot_weights(last_snapshot(trials[0]))
    slopes = {row.key: row.cells for row in slopes_table(weights, "t", []).rows}
    blocks = [f"blocks.{block}.slopes{k}" for block in (1, 2) for k in (1, 2)]
    assert list(slopes) == [*blocks, "trunk_end.slopes", "head.pooled.slopes"]
    assert all(cells["mean"].value == pytest.approx(-0.25) for cells in slopes.values())  # as they were made
    taps = taps_table(weights, "t", []).rows
    assert len(taps) == 4
    for row in taps:
        kernel = weights[row.cells["layer"].text]
        slow = np.array([[np.mean(kernel[:, :, y, x] ** 2) for x in range(3)] for y in range(3)])
        edges = ((slow[0, 1] + slow[1, 0] + slow[1, 2] + slow[2, 1]) / 4) ** 0.5
        assert row.cells["edges"].value == pytest.approx(edges, rel=1e-5)
        assert row.cells["ratio"].value == pytest.approx(slow[1, 1] ** 0.5 / edges, rel=1e-5)


def test_gonn_inspect_writes_the_net_and_all_that_is_published(trials, monkeypatch, capsys):
    trial = trials[0]
    home = trial.folder.parent.parent
    monkeypatch.setenv("GONN_HOME", str(home))
    assert cli.run(["inspect", trial.id[:8]]) == 0
    folder = home / "out" / f"net-{trial.id}"
    assert capsys.readouterr().out == f"report: {folder / 'inspect.md'}\n"
    files = {"slopes.csv", "taps.csv", "channels.png", "channels.svg", "inspect.md"}
    assert {path.name for path in folder.iterdir()} == files
    page = (folder / "inspect.md").read_text(encoding="utf-8").replace("\\", "")
    assert all(f"channel {each.channel}: {each.what}" in page for each in registry().published["gonn"].looks.channels)
    shown = [row for path in folder.glob("*.csv") for row in csv.reader(path.open(encoding="utf-8"))]
    looks = registry().published["gonn"].looks
    said = [[each.layer, *(f"{tap:g}" for tap in (each.corners, each.edges, each.center))] for each in looks.taps]
    said += [[each.layers, f"{each.mean[0]:g}"] for each in looks.slopes]
    for texts in said:
        assert any(all(any(text in cell for cell in row) for text in texts) for row in shown), texts


def test_statistics_of_claims_are_kept_by_trial_and_name(trials, tmp_path, monkeypatch):
    computed = statistic("kernel_rms_center", snapshot_weights(last_snapshot(trials[0])))
    assert statistics_module.trained_statistic("kernel_rms_center", trials[0], tmp_path) == computed
    monkeypatch.setattr(statistics_module, "snapshot_weights", lambda path: {})
    assert statistics_module.trained_statistic("kernel_rms_center", trials[0], tmp_path) == computed
    assert statistics_module.trained_statistic("prelu_slope_mean", trials[0], tmp_path) == {}
    assert statistics_module.trained_statistic("kernel_rms_center", trials[1], tmp_path) == {}


def test_what_is_looked_at_is_what_is_pooled(tmp_path):
    """The logits follow from the maps: pooled, through the matrix, into the head."""
    from gonn_core.nets import trial_net
    from gonn_core.nets.parts.norm import pool_board

    config = plan_study(tmp_path, "ko_plane").study.arms[0].config
    net = trial_net(config).eval()
    seen = []
    net.head.pooled.register_forward_hook(lambda module, inputs, output: seen.append(output))
    (maps,) = pooled_maps(net, config, [each for each in published() if each.case.name == "kothreatpolicy"])
    assert maps.shape == (4, 361)
    with torch.no_grad():
        pooled = pool_board(torch.from_numpy(maps).reshape(1, -1, 19, 19), net.head.pooled.statistics)
        assert torch.allclose(pooled @ net.head.pooled.matrix.T, seen[0][:, :, 0, 0], atol=1e-6)
