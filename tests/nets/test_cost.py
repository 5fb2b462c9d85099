"""Parameter counts exactly as published, and operations (spec: GoNN 2.7)."""

import pytest

from gonn_core.config import HeadConfig, NetConfig, StemConfig, TrunkConfig
from gonn_core.nets import count_parameters, flops_per_sample, multiply_adds
from tests.nets.examples import B5, B12, changed

GLOBAL12 = changed(B12, trunk={"global_pooling": True})


def test_april_net_without_gammas():
    assert count_parameters(changed(GLOBAL12, norm_gamma=False), 26) == 8_062_304 - 4_880


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


def test_february_net():
    """Published with a second head for ladders, 41,568 parameters, which had been switched off by then."""
    february = changed(
        B5, trunk={"blocks": 4, "dilations": (), "center_init": 0.0, "ladder_block": True, "wide_blocks": "shared"}
    )
    assert count_parameters(february, 26) == 3_285_048 - 41_568


FIRST_NET = NetConfig(
    norm_gamma=True,
    stem=StemConfig(width=96),
    trunk=TrunkConfig(width=64, blocks=4, order="plain"),
    head=HeadConfig(pooling="mean_max_stdev", share="3/4", pooled_share="1/4", activation="relu"),
)
"""The convolutional net of December 2017, with the first form of global pooling, on 13 planes."""


def test_first_net():
    """Weights by hand from its code (model code of 2017-12-03: 96, then four of 64, 48 and 16 in the head): about
    237,000, 'about 250K' in the document."""
    weights = 25 * 13 * 96 + 9 * 96 * 64 + 3 * 9 * 64 * 64 + 9 * 64 * 48 + 9 * 64 * 16 + 3 * 16 * 48 + 25 * 48
    norms = 2 * (96 + 4 * 64 + 16 + 48)
    assert weights == 237_456 and count_parameters(FIRST_NET, 13) == weights + norms
    pooling = 9 * 64 * 16 + 3 * 16 * 48 + 2 * 16
    assert count_parameters(changed(FIRST_NET, head={"pooling": "none"}), 13) == weights + norms - pooling


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


def test_operations():
    assert flops_per_sample(B5, 26) == 2 * multiply_adds(B5, 26)
