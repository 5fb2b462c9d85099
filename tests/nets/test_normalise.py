"""Means of planes against the published ones; normalised planes: the identity until set, part of the state."""

import numpy as np
import pytest
import torch

from gonn_core.config import TrialConfig, parse_config
from gonn_core.features.sets import plane_names
from gonn_core.features.source import plane_source
from gonn_core.nets.policy_net import SAMPLE, Normalise, grand, per_plane, plane_moments
from gonn_core.nets.registry import FAMILIES, trial_net
from tests.features.configs import CLARK, GO_NN, GONN
from tests.features.helpers import make_set
from tests.features.stores import open_games, sample_rows
from tests.go import oracles
from tests.nets.examples import random_planes

SMALL = {
    "gonn": {"trunk": {"width": 8, "blocks": 1}},
    "conv": {"conv": {"layers": [[3, 8]]}},
    "residual": {"residual": {"width": 8, "blocks": 1}},
    "encoder": {"encoder": {"layers": 1, "heads": 2, "width": 8, "ffn": 8}},
}


def config(family: str, normalisation: str) -> TrialConfig:
    return parse_config({"features": {"normalisation": normalisation}, "net": {"family": family, **SMALL[family]}})


@pytest.fixture(scope="module")
def starter():
    store = open_games(oracles.STARTER_GAMES)
    return plane_source(store), sample_rows(store)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@torch.no_grad()
def test_every_family_reads_its_planes_through_it(family):
    plain, net = (trial_net(config(family, normalisation)).eval() for normalisation in ("none", "per_plane"))
    planes = random_planes(2)
    assert set(net.state_dict()) - set(plain.state_dict()) == {"normalise.shift", "normalise.scale"}
    assert torch.equal(net(planes), plain(planes))
    net.normalise.shift.fill_(0.25)
    net.normalise.scale.fill_(2.0)
    assert torch.equal(net(planes), plain((planes - 0.25) * 2)) and not torch.equal(net(planes), plain(planes))
    assert torch.allclose(net.policies(net.body(planes))[:, 0], net(planes), atol=1e-6)


@torch.no_grad()
def test_chains_are_those_of_the_raw_planes():
    pooled = parse_config(
        {"features": {"normalisation": "grand"}, "net": {"trunk": {"width": 12, "blocks": 2, "chain_pooling": 1}}}
    )
    net = trial_net(pooled).eval()
    planes = random_planes(2)
    seen = []
    net.read_boards.register_forward_pre_hook(lambda reader, given: seen.append(given[0]))
    net.normalise.shift.fill_(0.5)
    net(planes)
    assert torch.equal(seen[0], planes)


def test_a_new_net_is_set_from_the_training_rows(starter):
    source, rows = starter
    features = GO_NN.model_copy(update={"normalisation": "per_plane"})
    normalise = Normalise(len(plane_names(features)))
    normalise.measure(features, source, rows)
    seen = rows[np.arange(SAMPLE) * len(rows) // SAMPLE] if len(rows) > SAMPLE else rows
    expected = per_plane(np.diagonal(plane_moments(features, source, seen)))
    assert normalise.shift.flatten().tolist() == expected.shift.tolist()
    assert normalise.scale.flatten().tolist() == expected.scale.tolist()
    constant = plane_names(features).index("ones")
    assert normalise(torch.ones(1, len(expected.shift), 19, 19))[0, constant].unique().tolist() == [1.0]


PUBLISHED = [
    *(0.148, 0.150, 0.702, 1.0),
    *(0.0044, 0.0177, 0.0262, 0.0999, 0.0041, 0.0174, 0.0264, 0.102),
    *(0.00276, 0.00275, 0.00273, 0.00272, 7.55e-5, 0.00253, 0.000376, 0.000105, 0.0000725),
]
"""go-NN's means over GoGoD, professional games (spec: other systems 1.3)."""

GO_NN_15 = GO_NN.model_copy(update={"liberties": 3, "captures": False})


def test_means_are_those_of_the_planes(starter):
    source, rows = starter[0], starter[1][::61][:1500]
    for features in (GO_NN, GONN.model_copy(update={"liberties": 2})):
        means = plane_moments(features, source, rows, batch=400)
        assert len(means) == len(plane_names(features))
    planes, _ = make_set(GO_NN, source, rows)
    assert np.allclose(np.diagonal(plane_moments(GO_NN, source, rows)), planes.mean((0, 2)), rtol=1e-12)


def test_planes_come_out_with_mean_zero_and_deviation_one_and_constant_ones_as_they_are(starter):
    source, rows = starter[0], starter[1][::61][:1500]
    features = CLARK.model_copy(update={"history": 0})
    shift, scale, _ = per_plane(np.diagonal(plane_moments(features, source, rows)))
    planes = (make_set(features, source, rows, dtype=np.float32)[0] - shift[:, None]) * scale[:, None]
    names = plane_names(features)
    constant = names.index("edge")
    assert not planes[:, constant].any()
    for k in range(len(names)):
        if k != constant:
            assert abs(planes[:, k].mean(dtype=np.float64)) < 1e-4
            assert scale[k] == 10 or planes[:, k].std(dtype=np.float64) == pytest.approx(1, rel=1e-4)
    assert scale[names.index("ko")] == 10
    ones = per_plane(np.diagonal(plane_moments(GO_NN, source, rows)))
    at = plane_names(GO_NN).index("ones")
    assert (1 - ones.shift[at]) * ones.scale[at] == 1


def test_whitened_planes_tell_nothing_of_each_other(starter):
    source, rows = starter[0], starter[1][::61][:1500]
    features = GONN.model_copy(update={"normalisation": "whitened"})
    normalise = Normalise(len(plane_names(features)), whitens=True)
    assert torch.equal(normalise(torch.ones(1, 26, 19, 19)), torch.ones(1, 26, 19, 19))
    normalise.measure(features, source, rows)
    planes = make_set(GONN, source, rows, dtype=np.float32)[0].reshape(len(rows), 26, 19, 19)
    constant = plane_names(features).index("on_board")
    assert torch.equal(normalise(torch.from_numpy(planes))[:, constant], torch.from_numpy(planes[:, constant]))
    varying = np.delete(planes, constant, 1).swapaxes(0, 1).reshape(25, -1).astype(np.float64)
    made = normalise(torch.from_numpy(planes)).numpy()
    made = np.delete(made, constant, 1).swapaxes(0, 1).reshape(25, -1).astype(np.float64)
    variances, axes = np.linalg.eigh(np.cov(varying))
    found = axes.T @ np.cov(made) @ axes
    expected = np.minimum(variances * 100, 1)  # along rare combinations the scale is 10
    assert np.abs(found - np.diag(expected)).max() < 0.01 and np.abs(made.mean(1)).max() < 1e-3


def test_grand_mean_of_the_15_planes():
    """The published numbers agree with each other: 0.154 and x2.77 are those of the set with three liberty planes."""
    published = dict(zip(plane_names(GO_NN), PUBLISHED, strict=True))
    for side in ("own", "opponent"):
        published[f"{side}_liberties_3_or_more"] = (
            published[f"{side}_liberties_3"] + published[f"{side}_liberties_4_or_more"]
        )
    shift, scale, _ = grand(np.array([published[name] for name in plane_names(GO_NN_15)]))
    assert (
        len(shift) == 15 and shift[0] == pytest.approx(0.154, abs=0.0005) and scale[0] == pytest.approx(2.77, abs=0.005)
    )
    assert (shift == shift[0]).all() and (scale == scale[0]).all()


def test_nothing_to_normalise_by_is_an_error(starter):
    source, _ = starter
    with pytest.raises(ValueError, match="need positions"):
        plane_moments(GO_NN, source, [])
    with pytest.raises(ValueError, match="no scale"):
        grand(np.ones(3))
