"""Residual towers of Cazenave 2017 (spec: other systems 4.3)."""

from typing import Annotated, Literal

from pydantic import Field

from gonn_core.settings.strict import Strict


class ResidualConfig(Strict):
    """Stem, tower of blocks of two 3x3 convolutions, 3x3 output convolution."""

    block: Literal["plain", "darkforest", "residual", "original", "identity", "golois"] = "residual"
    width: Annotated[int, Field(ge=1, le=2048)] = 256
    blocks: Annotated[int, Field(ge=1, le=128)] = 14
    stem_pointwise: bool = True
    """A 1x1 convolution beside the stem's 5x5, their sum activated."""
    output_planes: Annotated[int, Field(ge=1, le=3)] = 1
    """Next move; the reply too; the move after that too."""
