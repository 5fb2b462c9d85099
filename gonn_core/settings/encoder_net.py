"""Attention bodies on the 361 points, after the fork of lczero-training (spec: other systems 3.2, 3.4, 3.5)."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.strict import Strict

Size = Annotated[int, Field(ge=1, le=4096)]


class EncoderConfig(Strict):
    """Embedding, post-LN DeepNorm encoder layers, a policy head per point. The defaults are tier S without any
    enhancement."""

    layers: Annotated[int, Field(ge=1, le=64)] = 6
    heads: Annotated[int, Field(ge=1, le=128)] = 6
    width: Size = 192
    ffn: Size = 256
    """Hidden units of the feed-forward part."""
    ffn_activation: Literal["relu", "square_relu", "swish"] = "relu"
    input_gate: bool = False
    """Multiply the embedding per point and channel before adding to it; without it only the addition is there."""
    arc_code: bool = False
    """Each point's fixed code of its neighbourhood beside its planes."""
    smolgen: Literal["none", "full", "relative"] = "none"
    """Attention logits made from the position. full: by a dense map shared over the layers; relative: from templates
    over relative offsets."""
    smolgen_sizes: tuple[Size, Size, Size] = (8, 64, 16)
    """full: channels a point is compressed to, hidden units, units a head. relative: channels, hidden units,
    templates."""
    smolgen_activation: Literal["swish", "relu"] = "swish"
    smolgen_shared: bool = True
    """One map from codes to logits for all layers; false: each layer has its own."""
    depthwise: Annotated[int, Field(ge=0, le=37)] = 0
    """Side of the depthwise convolution before queries, keys and values; 0: none."""
    additive_gate: Literal["none", "relative", "absolute"] = "none"
    """Trainable static addition to the attention logits, by offset or by pair of points."""
    multiplicative_gate: bool = False
    """Trainable static factor, not negative, on the attention weights after the softmax."""
    policy_hidden: Annotated[int, Field(ge=0, le=4096)] = 0
    """Units of the policy head's hidden layer; 0: as wide as the body."""

    @model_validator(mode="after")
    def _sizes_fit(self):
        if self.width % self.heads:
            raise ValueError(f"width ({self.width}) must be a multiple of heads ({self.heads})")
        if self.depthwise and self.depthwise % 2 == 0:
            raise ValueError("depthwise: an odd side, or 0 for none")
        return self
