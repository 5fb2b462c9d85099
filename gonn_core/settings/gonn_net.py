"""Parts of a net of the GoNN family."""

from fractions import Fraction
from math import floor
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.errors import SettingError
from gonn_core.settings.strict import Share, Strict

FanIn = Literal["paired", "own"]
"""By what a He draw's size is counted where a toggle changes the number of inputs. paired: by the published net's
inputs, so that what two arms share starts equal; own: by the inputs that are there, as the code of each date did."""


class StemConfig(Strict):
    """First convolution, planes to trunk."""

    kernel: Literal[3, 5] = 5
    center_kernel: bool = False
    """A second, 1x1 kernel added to the centre tap (GoNN 2.2)."""
    width: Annotated[int, Field(ge=4, le=1024, multiple_of=4)] | None = None
    """Channels that come out, of a `plain` trunk alone; not given: the trunk's."""
    fan_in: FanIn = "paired"
    """paired: 26 planes count, whichever are there."""


class TrunkConfig(Strict):
    """Residual blocks (GoNN 2.3, 2.4)."""

    width: Annotated[int, Field(ge=4, le=1024, multiple_of=4)] = 192
    blocks: Annotated[int, Field(ge=1, le=64)] = 5
    order: Literal["pre", "post", "plain"] = "pre"
    """pre: residual blocks whose norm and activation come before each convolution; post: after each, the sum activated
    (model code of mid December 2017); plain: each block is one convolution, its norm and activation, without a sum
    (early December 2017). post and plain: norm and activation follow the stem, none the trunk."""
    dilations: tuple[Annotated[int, Field(ge=1, le=8)], ...] = ()
    """Dilations of blocks 2, 3, … in turn, repeated; empty: ordinary blocks."""
    dilated_share: Share = "1/3"
    deleted_channels: bool = False
    """The control of dilations: from block 2 on the first convolution lacks the channels that they would take."""
    global_pooling: bool = False
    """Replace blocks at relative depth 6/12 and 10/12 (one of 12 blocks in six, at least one) by global-pooling
    blocks."""
    global_share: Share = "1/3"
    center_init: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Extra draw on the centre tap of every 3x3 kernel in the blocks, in units of a 1x1 He draw (GoNN 2.6: 0.3)."""
    ladder_block: bool = False
    """Insert a block that carries values along the four diagonals, after half of the blocks (GoNN 3.2)."""
    ladder_share: Share = "1/8"
    """Channels of its four directions together; 24 of 192 as published, 6 a direction."""
    ladder_mean: Literal["exponential", "plain"] = "exponential"
    """Weights of its running means: exponential, so that the last strong point dominates; plain, as they are."""
    ladder_weights: Literal["near", "biased", "free"] = "near"
    """Which points its weights may be strong at: near stones alone (2018-01-08); anywhere, less easily at empty points
    (2017-12-30); anywhere (2017-12-25)."""
    chain_pooling: Annotated[int, Field(ge=0, le=2)] = 0
    """Insert so many blocks that pool over chains of stones: after half, after three quarters of the blocks (GoNN
    3.1)."""
    chain_pooling_share: Share = "1/6"
    chain_pooling_init: Annotated[float, Field(gt=0, le=10)] = 3.0
    """Their last kernel's initial size in units of a He draw: 3 as committed, which counted a 3x3 kernel's fan-in as a
    1x1 kernel's."""
    wide_blocks: Literal["none", "shared", "split", "down"] = "none"
    """Insert low-rank blocks of 9x1 and 1x9 kernels after three quarters of the blocks: one that uses its kernels in
    both orientations, or two with a kernel pair each (GoNN 3.4); down: one, in one orientation (9x1, then 1x9)."""
    wide_share: Share = "1/3"
    block: Literal["basic", "inverted", "nested"] = "basic"
    """Kind of the numbered blocks, those that pool over the board apart. basic: two 3x3 convolutions; inverted: 1x1 to
    four times the channels, 3x3 within each channel, 1x1 back (Cazenave 2020); nested: 1x1 to half of the channels, two
    basic blocks of that width, 1x1 back (KataGo)."""
    squeeze: Literal["none", "scale", "scale_shift"] = "none"
    """What is made of the means over the board of a block's output: a factor of each channel, or a factor and an
    addition (squeeze and excitation)."""
    squeeze_share: Share = "1/8"
    """Hidden units between the means and these."""
    zero_last: bool = False
    """The last kernel of a block starts at 0, so that a block starts as the identity."""

    @model_validator(mode="after")
    def _fits_together(self):
        if self.deleted_channels and self.dilations:
            raise ValueError("deleted_channels leaves out what dilations would take: give one of them")
        others = [
            name
            for name in ("global_pooling", "ladder_block", "chain_pooling", "wide_blocks")
            if getattr(self, name) not in (False, 0, "none")
        ]
        if self.order != "pre" and others:
            raise ValueError(f"order {self.order}: {others[0]} is of pre-activation trunks")
        residual = (self.dilations, self.deleted_channels, self.squeeze != "none", self.zero_last)
        if self.order == "plain" and any(residual):
            raise ValueError("order plain: dilations, deleted_channels, squeeze and zero_last are of residual blocks")
        if self.block != "basic" and (self.order != "pre" or self.deleted_channels):
            raise ValueError(f"block {self.block}: of order pre, with all channels")
        if self.block == "nested" and self.width % 8:
            raise ValueError("block nested: half of the width must be a multiple of 4")
        return self


class HeadConfig(Strict):
    """Policy head (GoNN 2.5)."""

    pooling: Literal["none", "mean_max", "mean_max_stdev", "mean", "max"] = "none"
    """What is pooled over the board and fed back to every point."""
    pooled_share: Share = "1/6"
    share: Share = "1/4"
    kernel: Literal[1, 3, 5] = 5
    """Side of the last convolution's kernel."""
    activation: Literal["crelu", "relu"] = "crelu"
    """Before the last convolution; crelu: relu of the channels and of their negatives, twice as many."""
    fan_in: FanIn = "paired"
    """paired: the matrix counts two pooled statistics and the last convolution both halves of crelu, whichever are
    there."""
    out_scale: Annotated[float, Field(gt=0, le=10)] = 0.5
    """The last convolution's initial size in units of a He draw (GoNN 2.6: 0.5 from 2018-01-21 on, 1 before)."""


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
