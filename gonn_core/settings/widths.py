"""Which channels and which blocks: the published 192-wide nets' proportions at any width and depth (spec: GoNN
2.3-2.5)."""

from fractions import Fraction
from math import floor

from gonn_core.errors import SettingError
from gonn_core.settings.gonn_net import HeadConfig, StemConfig, TrunkConfig


def sub_width(width: int, share: str) -> int:
    """Channels of a branch that takes `share` (such as "1/3") of the trunk: the nearest multiple of 4 (ties up), at
    least 4."""
    return max(4, 4 * _nearest(Fraction(share) * width / 4))


def stem_width(stem: StemConfig, trunk: TrunkConfig) -> int:
    """Channels that come out of the stem: the trunk's, unless a plain trunk begins with others; 96 before 64 in the
    first net of December 2017."""
    return trunk.width if stem.width is None else stem.width


def dilated_width(trunk: TrunkConfig) -> int:
    """Output channels of a dilated block's first convolution that are dilated (the last ones); 64 of 192 as
    published."""
    return sub_width(trunk.width, trunk.dilated_share)


def deleted_width(trunk: TrunkConfig) -> int:
    """Output channels of a first convolution that `deleted_channels` leaves out: those that would be dilated.

    Raises SettingError when no channel would be left.
    """
    deleted = dilated_width(trunk)
    if deleted >= trunk.width:
        raise SettingError(
            "net.trunk.deleted_channels", "true", f"leaves no channel of {trunk.width}", "a smaller dilated_share"
        )
    return deleted


def pooled_width(trunk: TrunkConfig) -> int:
    """Output channels of a global block's first convolution that are pooled (the last ones); 64 of 192 as published.

    Raises SettingError when no ordinary channel would be left.
    """
    pooled = sub_width(trunk.width, trunk.global_share)
    if pooled >= trunk.width:
        raise SettingError(
            "net.trunk.global_share",
            trunk.global_share,
            f"leaves no ordinary channel of {trunk.width}",
            "a smaller share",
        )
    return pooled


def head_widths(width: int, head: HeadConfig) -> tuple[int, int]:
    """(channels at every point, channels that are pooled) of the policy head; (48, 32) as published."""
    return sub_width(width, head.share), sub_width(width, head.pooled_share)


def block_dilation(trunk: TrunkConfig, block: int) -> int:
    """Dilation of a block (1-based): `trunk.dilations` in turn from block 2 on; 1 in block 1 and where none are
    given."""
    if block == 1 or not trunk.dilations:
        return 1
    return trunk.dilations[(block - 2) % len(trunk.dilations)]


def global_blocks(trunk: TrunkConfig) -> tuple[int, ...]:
    """The blocks (1-based, ascending) that pool over the board: one block in six, at least one, never block 1.

    One lies at depth 7/12, several are spread from depth 1/2 to 5/6: 7 of 12 in the first version, 6 and 10 of 12 in
    the better one (spec: GoNN 2.4). More than two (from 15 blocks on) are our extension of that rule. Raises
    SettingError for a net of one block.
    """
    if not trunk.global_pooling:
        return ()
    if trunk.blocks < 2:
        raise SettingError(
            "net.trunk.global_pooling", "true", f"needs a block after the first; net.trunk.blocks={trunk.blocks}"
        )
    count = max(1, _nearest(Fraction(trunk.blocks, 6)))
    if count == 1:
        depths = [Fraction(7, 12)]
    else:
        depths = [Fraction(1, 2) + Fraction(1, 3) * Fraction(i, count - 1) for i in range(count)]
    return tuple(max(2, _nearest(depth * trunk.blocks)) for depth in depths)


def block_at(depth: Fraction, blocks: int) -> int:
    """The block (1-based) after which a share `depth` of the blocks has passed: the nearest (ties up), at least the
    first."""
    return max(1, _nearest(depth * blocks))


def _nearest(value: Fraction) -> int:
    """Nearest integer, ties up (Python's round would go to the even one)."""
    return floor(value + Fraction(1, 2))
