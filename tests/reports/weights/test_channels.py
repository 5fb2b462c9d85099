"""Channels before pooling: which of ours is nearest to a published one, and what is drawn."""

import numpy as np
import pytest
import torch

from ablations.published_inspection import PublishedChannel
from gonn_core.evaluation.probes.suite import published
from gonn_core.go.points import point
from reports.weights.channels import chosen, likeness, pooled_maps
from tests.reports.made_studies import plan_study, registry

KO = PublishedChannel(position="kothreatpolicy", channel=13, what="kos", high={"S4": 71.8, "R3": 50.3})
BORDER = PublishedChannel(
    position="kothreatpolicy", channel=1, what="borders", high={"H5": 5.0}, low={"C3": -2.0, "C2": -2.2}
)


def slow_likeness(values: list[float], channel: PublishedChannel) -> float:
    mean = sum(values) / 361
    sd = (sum((value - mean) ** 2 for value in values) / 361) ** 0.5
    high = [(values[point(name)] - mean) / sd for name in channel.high]
    low = [(values[point(name)] - mean) / sd for name in channel.low]
    return sum(high) / len(high) - (sum(low) / len(low) if low else 0)


@pytest.mark.parametrize("channel", [KO, BORDER])
def test_likeness_is_in_standard_deviations_over_the_board(channel):
    maps = np.random.default_rng(0).normal(3, 2, (2, 5, 361)).astype(np.float32)
    found = likeness(maps, channel)
    assert found.shape == (2, 5)
    assert found[1, 3] == pytest.approx(slow_likeness(maps[1, 3].tolist(), channel), rel=1e-5)
    assert likeness(-maps, channel) == pytest.approx(-found)
    assert not likeness(np.ones((1, 361), np.float32), channel).any()  # a flat channel says nothing


def test_published_channels_lie_on_positions_of_the_probes():
    channels = registry().published["gonn"].looks.channels
    names = {each.case.name for each in published()}
    assert len(channels) == 3 and all(channel.position in names for channel in channels)
    assert all(point(name) >= 0 for channel in channels for name in (*channel.high, *channel.low))


def test_what_is_looked_at_is_what_is_pooled(tmp_path):
    """The logits follow from the maps: pooled, through the matrix, into the head."""
    from gonn_core.nets import trial_net
    from gonn_core.nets.parts.norm import pool_board

    config = plan_study(tmp_path, "ko_plane").study.arms[0].config
    net = trial_net(config).eval()
    position = [each for each in published() if each.case.name == "kothreatpolicy"]
    (maps,) = pooled_maps(net, config, position)
    assert maps.shape == (4, 361)
    seen = []
    net.head.pooled.register_forward_hook(lambda module, inputs, output: seen.append(output))
    pooled_maps(net, config, position)
    with torch.no_grad():
        pooled = pool_board(torch.from_numpy(maps).reshape(1, -1, 19, 19), net.head.pooled.statistics)
        assert torch.allclose(pooled @ net.head.pooled.matrix.T, seen[0][:, :, 0, 0], atol=1e-6)


def test_drawn_are_the_nearest_channels_and_then_the_busiest():
    maps = np.zeros((3, 9, 361), np.float32)
    maps[:, :, 0] = np.arange(9)  # channel 8 varies most
    assert chosen(maps, [0, 2]) == [0, 2, 5, 6, 7, 8]
    assert chosen(maps[:, :4], [1]) == [0, 1, 2, 3]
