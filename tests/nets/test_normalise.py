"""Normalised planes: the identity until set, part of the state, raw planes for whoever reads stones."""

import numpy as np
import pytest
import torch

from gonn_core.config import TrialConfig, parse_config
from gonn_core.features.normalisation import SAMPLE, measured, per_plane, plane_means
from gonn_core.features.sets import plane_names
from gonn_core.features.source import plane_source
from gonn_core.nets.policy_net import Normalise
from gonn_core.nets.registry import FAMILIES, trial_net
from tests.features.configs import GO_NN
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
    expected = per_plane(
        plane_means(features, source, rows[np.arange(SAMPLE) * len(rows) // SAMPLE] if len(rows) > SAMPLE else rows)
    )
    assert normalise.shift.flatten().tolist() == expected.shift.tolist()
    assert normalise.scale.flatten().tolist() == expected.scale.tolist()
    constant = plane_names(features).index("ones")
    assert normalise(torch.ones(1, len(expected.shift), 19, 19))[0, constant].unique().tolist() == [1.0]


def test_the_sample_is_evenly_spaced_and_whole_where_rows_are_few(starter):
    source, rows = starter
    for features in (GO_NN.model_copy(update={"normalisation": kind}) for kind in ("grand", "per_plane")):
        few = rows[:100]
        again = measured(features, source, few)
        assert [part.tolist() for part in again] == [part.tolist() for part in measured(features, source, few.copy())]
    with pytest.raises(ValueError, match="need positions"):
        measured(features, source, rows[:0])


def test_without_it_nothing_is_set():
    assert trial_net(config("gonn", "none")).normalise is None
