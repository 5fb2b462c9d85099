"""What reports keep: the same numbers and pictures as made anew, and made anew whenever what they are made from has
changed."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reports.figures.cache import kept_picture
from reports.figures.picture import Drawing, Picture
from reports.results.nets import measured_nets
from reports.results.study_results import TrialResult, load_results
from reports.study.render import write_report
from reports.weights import cached_statistics as kept_statistics
from reports.weights import layers as net_weights
from reports.weights.cache import read_kept
from reports.weights.layers import weight_looks
from reports.weights.statistics import CENTER, last_snapshot, snapshot_weights, statistic, tap_rms
from tests.reports.made_studies import plan_study, train


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    made = plan_study(folder, "parametric_relu", seeds=(1, 2))
    train(made, {}, weights=True)
    report = write_report(
        made.study, load_results(made.study, made.runs, made.study_folder), folder / "out", made.registry
    ).report
    return measured_nets([report.results])


def last(trial: TrialResult) -> Path:
    return last_snapshot(trial.folder, trial.result)


def test_looks_at_weights_are_those_of_the_weights(nets):
    net = next(each for each in nets if each.base)
    (found,) = net_weights.net_weights([net])
    weights = [snapshot_weights(last(trial)) for trial in net.trials]
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
    net = replace(nets[0], kept=tmp_path)
    (first,) = net_weights.net_weights([net])
    read = []
    monkeypatch.setattr(net_weights, "weight_looks", lambda weights: read.append(1) or weight_looks(weights))
    (again,) = net_weights.net_weights([net])
    assert not read and all(np.array_equal(again.tap_map(kernel), first.tap_map(kernel)) for kernel in first.kernels)
    assert all(
        again.slopes(layer).dtype == np.float32 and np.array_equal(again.slopes(layer), first.slopes(layer))
        for layer in first.slope_layers
    )
    os.utime(last(net.trials[0]), ns=(1, 1))
    net_weights.net_weights([net])
    assert len(read) == 1


def test_statistics_of_claims_are_kept_by_trial_and_name(nets, tmp_path, monkeypatch):
    trial = nets[0].trials[0]
    wanted = statistic("kernel_rms_center", snapshot_weights(last(trial)))
    assert kept_statistics.trained_statistic("kernel_rms_center", trial, tmp_path) == wanted
    monkeypatch.setattr(kept_statistics, "snapshot_weights", lambda path: pytest.fail("read again"))
    assert kept_statistics.trained_statistic("kernel_rms_center", trial, tmp_path) == wanted
    monkeypatch.setattr(kept_statistics, "snapshot_weights", lambda path: {})
    assert kept_statistics.trained_statistic("prelu_slope_mean", trial, tmp_path) == {}
    assert kept_statistics.trained_statistic("kernel_rms_center", nets[0].trials[1], tmp_path) == {}


def test_nothing_is_kept_without_a_folder():
    assert read_kept(None) is None


def test_a_picture_is_drawn_again_when_what_it_shows_or_its_file_has_changed(tmp_path):
    drawn = []

    def picture(shown) -> Picture:
        def draw() -> dict[str, bytes]:
            drawn.append(shown)
            return {"x.png": repr(shown).encode(), "x.svg": b""}

        return Picture("x", "title", Drawing(shown, draw))

    def write(shown) -> None:
        for name, data in kept_picture(tmp_path, tmp_path / "keys", picture(shown)).items():
            (tmp_path / name).write_bytes(data)

    for shown in ((1.0,), (1.0,), (2.0,), (2.0,)):
        write(shown)
    assert drawn == [(1.0,), (2.0,)]
    (tmp_path / "x.png").write_bytes(b"somebody's")
    write((2.0,))
    assert len(drawn) == 3 and (tmp_path / "x.png").read_bytes() == b"(2.0,)"
    write(None)  # a copy of another file: nothing is kept of it
    write(None)
    assert len(drawn) == 5
