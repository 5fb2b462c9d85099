"""Where inserted blocks stand, at the published depths and others; their widths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonn_core.config import TrunkConfig
from gonn_core.nets.gonn.inserted import insertions
from gonn_core.settings.gonn_net import block_at
from tests.nets.examples import SPECIAL, built, changed


def after(net):
    return built(net).inserted.after


@pytest.mark.parametrize(
    "blocks, expected",
    [
        (1, {1: ["ladder_block", "chain_pooling_1", "chain_pooling_2", "wide_down", "wide_across"]}),
        (3, {2: ["ladder_block", "chain_pooling_1", "chain_pooling_2", "wide_down", "wide_across"]}),
        (4, {2: ["ladder_block", "chain_pooling_1"], 3: ["chain_pooling_2", "wide_down", "wide_across"]}),
        (5, {3: ["ladder_block", "chain_pooling_1"], 4: ["chain_pooling_2", "wide_down", "wide_across"]}),
        (12, {6: ["ladder_block", "chain_pooling_1"], 9: ["chain_pooling_2", "wide_down", "wide_across"]}),
    ],
)
def test_places_at_other_depths(blocks, expected):
    assert after(changed(SPECIAL, trunk={"blocks": blocks, "wide_blocks": "split"})) == expected


@given(st.integers(1, 64))
def test_every_block_has_a_place(blocks):
    trunk = TrunkConfig(blocks=blocks, ladder_block=True, chain_pooling=2, wide_blocks="split")
    places = [block_at(insertion.depth, blocks) for insertion in insertions(trunk)]
    assert places == sorted(places) and places[0] >= 1 and places[-1] <= blocks


def test_one_orientation_is_the_shared_block_without_the_other():
    net = built(changed(SPECIAL, trunk={"wide_blocks": "down"}))
    assert [name for name in net.inserted if name.startswith("wide")] == ["wide"]
    assert list(net.inserted["wide"].branches) == ["down"] and net.inserted["wide"].kernel_uses == 1
