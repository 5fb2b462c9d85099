"""Parts of a net of the GoNN family."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

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
        if self.order == "plain" and (self.dilations or self.deleted_channels):
            raise ValueError("order plain: dilations and deleted_channels are of residual blocks")
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
