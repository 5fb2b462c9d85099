"""Branch widths and the placing of dilated and global blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonn_core.config import HeadConfig, TrunkConfig
from gonn_core.errors import SettingError
from gonn_core.settings.gonn_net import (
    block_dilation,
    dilated_width,
    global_blocks,
    head_widths,
    pooled_width,
    sub_width,
)


def trunk(**fields):
    return TrunkConfig(**{"blocks": 12, "global_pooling": True, **fields})


def test_widths_of_the_published_nets():
    assert dilated_width(trunk()) == 64
    assert pooled_width(trunk()) == 64
    assert head_widths(192, HeadConfig()) == (48, 32)
    assert head_widths(192, HeadConfig(pooled_share="1/12")) == (48, 16)


@pytest.mark.parametrize(
    "width, third, sixth, quarter",
    [(4, 4, 4, 4), (16, 4, 4, 4), (32, 12, 4, 8), (48, 16, 8, 12), (64, 20, 12, 16), (128, 44, 20, 32)],
)
def test_widths_of_narrow_nets(width, third, sixth, quarter):
    assert [sub_width(width, share) for share in ("1/3", "1/6", "1/4")] == [third, sixth, quarter]


@given(st.integers(1, 256).map(lambda n: 4 * n), st.integers(1, 12), st.integers(1, 12))
def test_a_sub_width_is_a_multiple_of_four_near_its_share(width, a, b):
    numerator, denominator = sorted((a, b))
    result = sub_width(width, f"{numerator}/{denominator}")
    assert result % 4 == 0 and 4 <= result <= width
    assert result == 4 or abs(result - width * numerator / denominator) <= 2


def test_dilations_repeat_from_the_second_block_on():
    assert [block_dilation(trunk(dilations=(2, 3)), b) for b in range(1, 7)] == [1, 2, 3, 2, 3, 2]
    assert [block_dilation(trunk(), b) for b in range(1, 4)] == [1, 1, 1]


@pytest.mark.parametrize(
    "blocks, expected",
    [
        (2, (2,)),
        (3, (2,)),
        (4, (2,)),
        (5, (3,)),
        (8, (5,)),
        (9, (5, 8)),
        (10, (5, 8)),
        (12, (6, 10)),
        (18, (9, 12, 15)),
        (24, (12, 15, 17, 20)),
    ],
)
def test_global_blocks(blocks, expected):
    assert global_blocks(trunk(blocks=blocks)) == expected


@given(st.integers(2, 64))
def test_global_blocks_are_distinct_and_never_the_first(blocks):
    found = global_blocks(trunk(blocks=blocks))
    assert len(set(found)) == len(found) >= 1 and min(found) >= 2 and max(found) <= blocks


def test_a_single_block_cannot_be_global():
    with pytest.raises(
        SettingError, match="net.trunk.global_pooling=true: needs a block after the first; net.trunk.blocks=1"
    ):
        global_blocks(trunk(blocks=1))


def test_pooled_rows_must_leave_some():
    with pytest.raises(SettingError, match="net.trunk.global_share=1/3: leaves no ordinary channel of 4"):
        pooled_width(trunk(width=4))
