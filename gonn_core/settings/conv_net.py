"""Plain convolutional nets: go-NN and Clark & Storkey (spec: other systems 1.4, 2.3, 2.4)."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

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
