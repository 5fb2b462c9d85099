"""Parameter counts exactly as published, and operations (spec: GoNN 2.7)."""

import pytest

from gonn_core.config import NetConfig, StemConfig, TrunkConfig
from gonn_core.nets import count_parameters, multiply_adds
from tests.nets.examples import B5, changed


@pytest.mark.parametrize(
    "variant, difference",
    [
        (changed(B5, head={"pooling": "none"}), -58_464),
        (changed(B5, head={"pooling": "mean_max_stdev"}), +1_536),
        (changed(B5, activation="relu"), -2_144),
        (changed(B5, stem={"center_kernel": False}), -4_992),
        (changed(B5, norm_gamma=False), -2_192),
        (changed(B5, trunk={"blocks": 6}), +664_704),
        (changed(B5, trunk={"dilations": ()}), 0),
        (changed(B5, trunk={"global_pooling": True}), 570_496 - 664_704),
        (changed(B5, trunk={"center_init": 0.0}), 0),
        (changed(B5, trunk={"ladder_block": True}), 88_248),
        (changed(B5, trunk={"chain_pooling": 1}), 111_264),
        (changed(B5, trunk={"chain_pooling": 2, "chain_pooling_share": "1/3"}), 2 * 221_952),
        (changed(B5, trunk={"wide_blocks": "shared"}), 222_144),
        (changed(B5, trunk={"wide_blocks": "split"}), 2 * 221_952),
        (changed(B5, head={"activation": "relu"}), -1_200),
        (changed(B5, head={"pooled_share": "1/12"}), -29_232),
        (changed(B5, trunk={"dilations": (), "deleted_channels": True}), -4 * (2 * 64 * 9 * 192 + 2 * 64 + 64)),
        (changed(B5, trunk={"wide_blocks": "down"}), 222_144 - 3 * 64),  # one branch's norm and slopes less
        (changed(B5, trunk={"ladder_block": True, "ladder_mean": "plain", "ladder_weights": "biased"}), 88_248),
        (changed(B5, trunk={"order": "post"}), 0),
        (changed(B5, norm="none"), 0),
        (changed(B5, head={"pooling": "mean"}), -1_536),
        (changed(B5, head={"pooling": "max"}), -1_536),
        (changed(B5, head={"kernel": 3}), -16 * 96),
    ],
)
def test_variants(variant, difference):
    assert count_parameters(variant, 26) - count_parameters(B5, 26) == difference


def test_multiply_adds_by_hand():
    net = NetConfig(stem=StemConfig(kernel=3, center_kernel=True), trunk=TrunkConfig(width=8, blocks=1))
    convolutions = 9 * 2 * 8 + 2 * 9 * 8 * 8 + 9 * 8 * 4 + 25 * 8 * 1
    assert multiply_adds(net, 2) == 361 * convolutions
    matrix = (2 * 4) * 4
    assert multiply_adds(changed(net, head={"pooling": "mean_max"}), 2) == 361 * (convolutions + 9 * 8 * 4) + matrix


@pytest.mark.parametrize(
    "trunk, each_point",
    [
        ({"ladder_block": True}, 2 * 9 * 8 * 4 + 4 * 8),
        ({"chain_pooling": 1}, 2 * 9 * 8 * 4),
        ({"wide_blocks": "shared"}, 2 * (2 * 9 * 8 * 4)),  # the same kernels in two orientations
        ({"wide_blocks": "split"}, 2 * (2 * 9 * 8 * 4)),
    ],
)
def test_multiply_adds_of_inserted_blocks(trunk, each_point):
    net = NetConfig(trunk=TrunkConfig(width=8, blocks=2))
    assert multiply_adds(changed(net, trunk=trunk), 2) - multiply_adds(net, 2) == 361 * each_point
