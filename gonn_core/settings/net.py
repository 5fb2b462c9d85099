"""A net: its family, and that family's settings.

Specifications: plain convolutional nets go-NN and Clark & Storkey, other systems 1.4, 2.3, 2.4; the encoder family of
the lczero fork, other systems 3; residual nets of Cazenave 2017, other systems 4.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.gonn_net import HeadConfig, StemConfig, TrunkConfig
from gonn_core.settings.strict import Strict

Kernel = Annotated[int, Field(ge=1, le=19)]
Width = Annotated[int, Field(ge=1, le=4096)]


class ConvConfig(Strict):
    """Convolutions one after the other, an activation after each, then a head that gives 361 logits."""

    layers: tuple[tuple[Kernel, Width], ...] = ((5, 256), *((3, 256),) * 10)
    """Kernel side and channels of each layer; none: the head sees the planes (a multi-layer perceptron)."""
    residual: bool = False
    """The layers after the first in pairs, x + conv(act(conv(act(x)))); no activation follows the first layer or the
    last (go-NN's code: Res5x2PreELU)."""
    head: Literal["conv", "full"] = "conv"
    """conv: a convolution to one channel; full: a fully connected layer to the 361 points."""
    head_kernel: Kernel = 3
    """conv only."""
    head_hidden: tuple[Width, ...] = ()
    """Widths of further layers between the convolutions and the last one: units of full layers, channels of
    convolutions with the head's kernel. Tied full layers are maps of the board: multiples of 361."""
    position_bias: Literal["none", "last", "all"] = "none"
    """Where a layer has a bias at each point of the board; elsewhere one a channel."""
    tied: bool = False
    """Kernels, full layers and biases equal under the 8 symmetries, so that f(g x) = g f(x)."""
    hidden_padding: Literal["same", "valid"] = "same"
    """valid: every layer after the first shrinks the board."""
    init: Literal["he", "fan_in", "normal"] = "he"
    """Standard deviation sqrt(2/fan-in), sqrt(1/fan-in), 0.01."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """After every activation."""

    @model_validator(mode="after")
    def _fits_together(self):
        if any(kernel % 2 == 0 for kernel, _ in (*self.layers, (self.head_kernel, 1))):
            raise ValueError("kernels have an odd side")
        if self.head == "full" and (self.head_kernel != 3 or self.position_bias == "last"):
            raise ValueError(
                "head full has no head_kernel to set, and its bias is at each point anyhow: position_bias none or all"
            )
        if self.head == "full" and self.tied and any(width % 361 for width in self.head_hidden):
            raise ValueError("tied: full layers are maps of the board, head_hidden multiples of 361")
        if not self.layers and (
            self.head == "conv" or self.position_bias != "none" or (self.dropout and not self.head_hidden)
        ):
            raise ValueError("no layers: needs head full, position_bias none, and head_hidden if there is dropout")
        if self.residual and (len(self.layers) < 3 or len(self.layers) % 2 == 0):
            raise ValueError("residual: a first layer, then pairs: an odd number of layers, three or more")
        if self.residual and (self.hidden_padding == "valid" or len({width for _, width in self.layers}) > 1):
            raise ValueError("residual: sums need layers of one width, and hidden_padding same")
        if self.hidden_padding == "valid":
            if self.head == "conv" or len(self.layers) < 2:
                raise ValueError("hidden_padding valid: needs head full and two layers or more")
            if sum(kernel - 1 for kernel, _ in self.layers[1:]) >= 19:
                raise ValueError("hidden_padding valid: these kernels leave nothing of the board")
        return self


Size = Annotated[int, Field(ge=1, le=4096)]


class EncoderConfig(Strict):
    """Embedding, encoder layers, a policy head per point. The defaults are the fork's tier S without any
    enhancement."""

    layers: Annotated[int, Field(ge=1, le=64)] = 6
    heads: Annotated[int, Field(ge=1, le=128)] = 6
    width: Size = 192
    ffn: Size = 256
    """Hidden units of the feed-forward part."""
    ffn_activation: Literal["relu", "square_relu", "swish", "swiglu"] = "relu"
    """swiglu: swish of a second map, times the first."""
    order: Literal["post", "pre"] = "post"
    """post: norms after each sum, with DeepNorm's factors; pre: norms before attention and feed-forward part, and after
    the last layer (KataGo)."""
    rotary: bool = False
    """Queries and keys are turned by their point's row and column (2-D RoPE, as KataGo has it)."""
    stem_kernel: Literal[1, 3] = 1
    """Side of the kernel that embeds the planes."""
    input_gate: bool = False
    """Multiply the embedding per point and channel before adding to it; without it only the addition is there."""
    arc_code: bool = False
    """Each point's fixed code of its neighbourhood, in addition to its planes."""
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
        if self.rotary and self.width // self.heads % 4:
            raise ValueError("rotary: width / heads must be a multiple of 4")
        if self.depthwise and self.depthwise % 2 == 0:
            raise ValueError("depthwise: an odd side, or 0 for none")
        return self


class ResidualConfig(Strict):
    """Stem, tower of blocks of two 3x3 convolutions, 3x3 output convolution."""

    block: Literal["plain", "darkforest", "residual", "original", "identity", "golois"] = "residual"
    width: Annotated[int, Field(ge=1, le=2048)] = 256
    blocks: Annotated[int, Field(ge=1, le=128)] = 14
    stem_pointwise: bool = True
    """A 1x1 convolution next to the stem's 5x5, their sum activated."""
    output_planes: Annotated[int, Field(ge=1, le=3)] = 1
    """Next move; the reply too; the move after that too."""


ACTIVATIONS = {
    "gonn": ("relu", "prelu", "mish"),
    "conv": ("relu", "elu", "tanh"),
    "residual": ("relu",),
    "encoder": ("relu",),
}
"""Family -> activations that `net.activation` can name there."""
_PARTS = {
    "gonn": ("prelu_init", "norm", "norm_gamma", "stem", "trunk", "head"),
    "conv": ("conv",),
    "residual": ("residual",),
    "encoder": ("encoder",),
}


class NetConfig(Strict):
    """A net. The defaults are each family's bare net: an enhancement is what a base or a card turns on."""

    family: Literal["gonn", "conv", "residual", "encoder"] = "gonn"
    activation: Literal["relu", "prelu", "mish", "elu", "tanh"] = "relu"
    """mish: x tanh(softplus(x))."""
    prelu_init: Annotated[float, Field(ge=-1, le=1)] = 0.0
    norm: Literal["batch", "none", "fixup"] = "batch"
    """none: the gonn family without batch normalisation; the trainable scale, if there is one, and the shift stay.
    fixup: the same, and numbered blocks start with their first kernel smaller by the root of their number and their
    last one at 0 (Fixup, as KataGo has it)."""
    norm_gamma: bool = False
    """Trainable scale in the batch normalisation of the gonn family."""
    stem: StemConfig = StemConfig()
    trunk: TrunkConfig = TrunkConfig()
    head: HeadConfig = HeadConfig()
    conv: ConvConfig = ConvConfig()
    residual: ResidualConfig = ResidualConfig()
    encoder: EncoderConfig = EncoderConfig()

    @model_validator(mode="after")
    def _of_one_family(self):
        """What another family reads must not be set: it would change the identity and nothing else."""
        if self.activation not in ACTIVATIONS[self.family]:
            raise ValueError(
                f"family {self.family} takes activation {' or '.join(ACTIVATIONS[self.family])} (not {self.activation})"
            )
        for family, parts in _PARTS.items():
            for part in parts:
                if family != self.family and getattr(self, part) != type(self).model_fields[part].default:
                    raise ValueError(f"{part} is of family {family}, not of {self.family}")
        if self.stem.width is not None and self.trunk.order != "plain":
            raise ValueError("stem.width: only a plain trunk (trunk.order) can begin with a width of its own")
        if self.norm == "fixup" and self.trunk.order == "plain":
            raise ValueError("norm: fixup is of blocks with two kernels and a sum, not of a plain trunk (trunk.order)")
        return self
