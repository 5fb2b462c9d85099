"""Parts of a net of the GoNN family."""

from typing import Annotated, Literal

from pydantic import Field

from gonn_core.settings.strict import Share, Strict


class StemConfig(Strict):
    """First convolution, planes to trunk."""

    kernel: Literal[3, 5] = 5
    center_kernel: bool = False
    """A second, 1x1 kernel added to the centre tap (GoNN 2.2)."""


class TrunkConfig(Strict):
    """Residual blocks (GoNN 2.3, 2.4)."""

    width: Annotated[int, Field(ge=4, le=1024, multiple_of=4)] = 192
    blocks: Annotated[int, Field(ge=1, le=64)] = 5
    dilations: tuple[Annotated[int, Field(ge=1, le=8)], ...] = ()
    """Dilations of blocks 2, 3, … in turn, repeated; empty: ordinary blocks."""
    dilated_share: Share = "1/3"
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
    chain_pooling: Annotated[int, Field(ge=0, le=2)] = 0
    """Insert so many blocks that pool over chains of stones: after half, after three quarters of the blocks (GoNN
    3.1)."""
    chain_pooling_share: Share = "1/6"
    chain_pooling_init: Annotated[float, Field(gt=0, le=10)] = 3.0
    """Their last kernel's initial size in units of a He draw: 3 as committed, which counted a 3x3 kernel's fan-in as a
    1x1 kernel's."""
    wide_blocks: Literal["none", "shared", "split"] = "none"
    """Insert low-rank blocks of 9x1 and 1x9 kernels after three quarters of the blocks: one that uses its kernels in
    both orientations, or two with a kernel pair each (GoNN 3.4)."""
    wide_share: Share = "1/3"


class HeadConfig(Strict):
    """Policy head (GoNN 2.5)."""

    pooling: Literal["none", "mean_max", "mean_max_stdev"] = "none"
    """What is pooled over the board and fed back to every point."""
    pooled_share: Share = "1/6"
    share: Share = "1/4"
    activation: Literal["crelu", "relu"] = "crelu"
    """Before the last convolution; crelu: relu of the channels and of their negatives, twice as many."""
